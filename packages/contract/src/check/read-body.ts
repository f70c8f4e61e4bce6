import type { Static, TSchema } from "typebox";
import { checkValue, type ExplainUnknown, isObject } from "./check-value.js";
import { Findings } from "./findings.js";
import { checkJsonValue } from "./json-value.js";

/**
 * Reads a body by its published schema; none counts as an empty object. `judge` looks at what the schema cannot say. Throws one
 * CarillonError that names every fault.
 */
export function readBody<Schema extends TSchema, Result>(
  schema: Schema,
  body: unknown,
  judge: (sound: Partial<Static<Schema>>, findings: Findings) => Result,
  explainUnknown?: ExplainUnknown,
): Result {
  const findings = new Findings();
  const given = body === undefined ? {} : body;
  if (!isObject(given)) findings.add("", "field_invalid", "the body must be a JSON object");
  if (!checkJsonValue(given, findings)) findings.raise();
  const check = { findings, ...(explainUnknown && { explainUnknown }) };
  const sound = isObject(given) ? checkValue(schema, given, check) : undefined;
  return findings.judge(() => judge(sound ?? {}, findings));
}
