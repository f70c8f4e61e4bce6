import type { LabelCondition } from "@carillon/core";
import { jsonParam } from "../db/params.js";

/** Conditions on labels as statements take them: what an index can find by, and the rest. */
export function labelParams(conditions: readonly LabelCondition[] = []): [string | null, string | null] {
  const equal: Record<string, string> = {};
  const rest: { key: string; is_in: boolean; among: readonly string[] | null }[] = [];
  for (const { key, isIn, among } of conditions) {
    const [value, ...others] = among ?? [];
    const isPlain = isIn && value !== undefined && others.length === 0 && !Object.hasOwn(equal, key);
    if (isPlain) equal[key] = value;
    else rest.push({ key, is_in: isIn, among: among ?? null });
  }
  return [Object.keys(equal).length === 0 ? null : jsonParam(equal), rest.length === 0 ? null : jsonParam(rest)];
}
