import { isObject } from "@carillon/core";
import { type Static, type TSchema, Type } from "typebox";
import { limits } from "../bounds.js";
import { checkValue, type ExplainUnknown } from "./check-value.js";
import { Findings } from "./findings.js";
import { checkJsonValue } from "./json-value.js";

/**
 * Reads a body by its published schema; a missing body counts as an empty object. `judge` checks what the schema cannot express.
 * Throws one CarillonError that names every fault.
 */
export function readBody<Schema extends TSchema, Result>(
  schema: Schema,
  body: unknown,
  judge: (sound: Partial<Static<Schema>>, findings: Findings) => Result,
): Result {
  const findings = new Findings();
  const sound = soundBody(schema, body === undefined ? {} : body, { findings });
  return findings.judge(() => judge(sound, findings));
}

interface BodyCheck {
  readonly findings: Findings;
  readonly explainUnknown?: ExplainUnknown;
  /** A body that would be right, for the message. */
  readonly example?: string;
}

/** The sound part of a body; its faults are recorded. */
export function soundBody<Schema extends TSchema>(
  schema: Schema,
  body: unknown,
  check: BodyCheck,
): Partial<Static<Schema>> {
  if (!isObject(body)) {
    const such = check.example === undefined ? "" : ` such as ${check.example}`;
    check.findings.add("", "field_invalid", `The body must be a JSON object${such}.`);
  }
  if (!checkJsonValue(body, check.findings)) check.findings.raise();
  return (isObject(body) && checkValue(schema, body, check)) || {};
}

/**
 * The items of a batch, unread: each is read by itself later, so that a fault of one does not refuse the others. `name` is the member
 * of the body that lists them.
 */
export function readBatch(body: unknown, name: string, example: string): readonly unknown[] {
  const findings = new Findings();
  if (!isObject(body)) findings.add("", "field_invalid", `The body must be a JSON object such as ${example}.`);
  const list = Type.Array(Type.Unknown(), { maxItems: limits.batch });
  const envelope = Type.Object({ [name]: list }, { additionalProperties: false });
  const items = (isObject(body) && checkValue(envelope, body, { findings })?.[name]) || [];
  if (findings.size === 0 && items.length === 0) {
    findings.add(`/${name}`, "field_invalid", "The list is empty. Send at least one item.");
  }
  findings.raise();
  return items;
}
