import { NamespaceCreate, NamespacePatch } from "../schema/namespace.js";
import { readBody } from "./body.js";
import { type OwnLimitChange, ownLimitChange } from "./own-limits.js";

const usualWeight = 1;

export function readNamespaceCreate(body: unknown): { readonly name: string; readonly weight: number } {
  return readBody(NamespaceCreate, body, ({ name = "", weight = usualWeight }) => ({ name, weight }));
}

export interface NamespaceChange extends OwnLimitChange {
  readonly weight?: number;
}

export function readNamespacePatch(body: unknown): NamespaceChange {
  return readBody(NamespacePatch, body, ({ weight, ...limits }, findings) => {
    return { ...(weight !== undefined && { weight }), ...ownLimitChange(limits, findings) };
  });
}
