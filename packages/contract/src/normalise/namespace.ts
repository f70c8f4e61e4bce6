import { NamespaceCreate, NamespacePatch } from "../schema/namespace.js";
import { readBody } from "./body.js";

const usualWeight = 1;

export function readNamespaceCreate(body: unknown): { readonly name: string; readonly weight: number } {
  return readBody(NamespaceCreate, body, ({ name = "", weight = usualWeight }) => ({ name, weight }));
}

export function readNamespacePatch(body: unknown): { readonly weight?: number } {
  return readBody(NamespacePatch, body, ({ weight }) => (weight === undefined ? {} : { weight }));
}
