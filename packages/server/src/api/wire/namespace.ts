import type { Namespace } from "@carillon/contract";
import type { NamespaceView } from "@carillon/engine";
import { timestamp } from "./scalars.js";

export function wireNamespace({ name, weight, version, createdAt, updatedAt }: NamespaceView): Namespace {
  return { name, weight, version, created_at: timestamp(createdAt), updated_at: timestamp(updatedAt) };
}
