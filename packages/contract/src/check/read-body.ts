import { isObject } from "@carillon/core";
import { type Static, type TSchema, Type } from "typebox";
import { limits } from "../bounds.js";
import { checkValue, type ExplainUnknown } from "./check-value.js";
import { Findings, pointerTo } from "./findings.js";

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

interface BatchShape {
  /** The member of the body that lists the items. */
  readonly name: string;
  readonly example: string;
  readonly maxItems: number;
  /** What a caller with more items can do. */
  readonly more: string;
}

/** The items of a batch, unread: each is read by itself later, so that a fault of one does not refuse the others. */
export function readBatch(body: unknown, { name, example, maxItems, more }: BatchShape): readonly unknown[] {
  const findings = new Findings();
  if (!isObject(body)) findings.add("", "field_invalid", `The body must be a JSON object such as ${example}.`);
  const list = Type.Array(Type.Unknown());
  const envelope = Type.Object({ [name]: list }, { additionalProperties: false });
  const items = (isObject(body) && checkValue(envelope, body, { findings })?.[name]) || [];
  if (items.length > maxItems) {
    const detail = `Has ${items.length} items; at most ${maxItems} are allowed. ${more}`;
    findings.add(`/${name}`, "field_invalid", detail);
  }
  if (findings.size === 0 && items.length === 0) {
    findings.add(`/${name}`, "field_invalid", "The list is empty. Send at least one item.");
  }
  findings.raise();
  return items;
}

/** NUL, which PostgreSQL cannot store in text, and halves of surrogate pairs, which UTF-8 cannot encode. */
const unstorable = /[\0\p{Surrogate}]/u;

/** A whole number that lost digits in parsing has at least this many. */
const manyDigits = /\d{16}/;

/**
 * Whether a text that `JSON.stringify` wrote surely holds nothing that `checkJsonValue` refuses. Where this is false, the value itself
 * must be checked.
 */
export function isPlainlySound(text: string): boolean {
  // An escaped character may be one that cannot be stored.
  if (text.includes("\\u") || manyDigits.test(text)) return false;
  return countOf("{", text) + countOf("[", text) < limits.jsonDepth;
}

/** Stops counting at the limit. */
function countOf(mark: string, text: string): number {
  let count = 0;
  for (let at = text.indexOf(mark); at !== -1 && count < limits.jsonDepth; at = text.indexOf(mark, at + 1)) count++;
  return count;
}

/**
 * Refuses values that would be read back differently from how they were sent: characters that cannot be stored, numbers that lost
 * digits in parsing, and nesting too deep for recursive readers. Returns whether the value may be checked further.
 */
export function checkJsonValue(value: unknown, findings: Findings): boolean {
  return new JsonWalk(findings).visit(value);
}

/** The path to the present value is one list that grows and shrinks: most values are sound and need no pointer. */
class JsonWalk {
  readonly #findings: Findings;
  readonly #path: (string | number)[] = [];

  constructor(findings: Findings) {
    this.#findings = findings;
  }

  visit(value: unknown): boolean {
    if (typeof value === "string") this.#checkText(value);
    else if (typeof value === "number") this.#checkNumber(value);
    else if (typeof value === "object" && value !== null) return this.#visitMembers(value);
    return true;
  }

  #visitMembers(value: object): boolean {
    if (this.#path.length >= limits.jsonDepth) {
      this.#findings.add("", "field_invalid", `The body is nested deeper than ${limits.jsonDepth} levels.`);
      return false;
    }
    if (Array.isArray(value)) return value.every((item, index) => this.#visitMember(index, item));
    return Object.entries(value).every(([name, member]) => this.#visitMember(name, member));
  }

  #visitMember(name: string | number, member: unknown): boolean {
    this.#path.push(name);
    if (typeof name === "string") this.#checkText(name);
    const mayGoOn = this.visit(member);
    this.#path.pop();
    return mayGoOn;
  }

  #checkText(text: string): void {
    if (unstorable.test(text)) this.#refuse("Text must not contain NUL or unpaired surrogates.");
  }

  #checkNumber(value: number): void {
    if (!Number.isFinite(value)) this.#refuse("The number is too large. Send it as text.");
    // From 1e21 on a number is written with an exponent, so its sender does not expect every digit back.
    else if (Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < 1e21) {
      this.#refuse("A whole number beyond 2^53 - 1 loses digits. Send it as text.");
    }
  }

  #refuse(detail: string): void {
    this.#findings.add(this.#path.reduce<string>(pointerTo, ""), "field_invalid", detail);
  }
}
