import type { Namespace } from "@carillon/contract";
import type { NamespaceView } from "@carillon/engine";
import { wireOwnLimits } from "./limits.js";
import { timestamp } from "../timestamp.js";

export function wireNamespace({ name, weight, limits, version, createdAt, updatedAt }: NamespaceView): Namespace {
  const times = { created_at: timestamp(createdAt), updated_at: timestamp(updatedAt) };
  return { name, weight, ...wireOwnLimits(limits), version, ...times };
}
