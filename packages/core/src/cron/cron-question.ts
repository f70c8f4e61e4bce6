import { isObject } from "../json/objects.js";
import { CarillonError } from "../errors/carillon-error.js";
import type { DstPolicy } from "../schedule/spec.js";
import type { DayMatch } from "./fields.js";

/** A question about the next fires of an expression: one line of JSON. */
export interface CronQuestion {
  readonly expr: string;
  readonly tz: string;
  readonly from: string | undefined;
  readonly count: number;
  readonly dayMatch: DayMatch;
  readonly dst: DstPolicy;
}

const FIELDS = ["expr", "tz", "from", "count", "day_match", "dst"];
const MAX_COUNT = 1000;

/** Reads a question. Throws `bad_request` or `unknown_field`. */
export function readCronQuestion(line: string): CronQuestion {
  const question = asObject(parseJson(line), "The line");
  refuseUnknown(question, FIELDS);
  const expr = optionalText(question, "expr");
  if (expr === undefined) throw new CarillonError("bad_request", "Field expr is missing; write a cron expression.");
  return {
    expr,
    tz: optionalText(question, "tz") ?? "UTC",
    from: optionalText(question, "from"),
    count: readCount(question["count"]),
    dayMatch: choice(question, "day_match", ["or", "and"]) ?? "or",
    dst: readDst(question["dst"]),
  };
}

function readDst(value: unknown): DstPolicy {
  if (value === undefined) return {};
  const question = asObject(value, "Field dst");
  refuseUnknown(question, ["gap", "overlap"]);
  const gap = choice(question, "gap", ["after", "skip"]);
  const overlap = choice(question, "overlap", ["first", "second", "both"]);
  return { ...(gap === undefined ? {} : { gap }), ...(overlap === undefined ? {} : { overlap }) };
}

function readCount(value: unknown): number {
  if (value === undefined) return 1;
  if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= MAX_COUNT) return value;
  throw new CarillonError("bad_request", `Field count is not a whole number from 1 to ${MAX_COUNT}.`);
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new CarillonError("bad_request", 'The line is not JSON; write one object such as {"expr":"0 9 * * *"}.');
  }
}

type JsonObject = Readonly<Record<string, unknown>>;

function asObject(value: unknown, name: string): JsonObject {
  if (isObject(value)) return value;
  throw new CarillonError("bad_request", `${name} is not a JSON object.`);
}

function refuseUnknown(question: JsonObject, known: readonly string[]): void {
  const unknown = Object.keys(question).find((field) => !known.includes(field));
  if (unknown === undefined) return;
  const message = `Field ${JSON.stringify(unknown)} does not exist; the fields are ${known.join(", ")}.`;
  throw new CarillonError("unknown_field", message);
}

function optionalText(question: JsonObject, field: string): string | undefined {
  const value = question[field];
  if (value === undefined || typeof value === "string") return value;
  throw new CarillonError("bad_request", `Field ${field} is not a string.`);
}

function choice<const Choice extends string>(
  question: JsonObject,
  field: string,
  choices: readonly Choice[],
): Choice | undefined {
  const value = optionalText(question, field);
  if (value === undefined) return undefined;
  const found = choices.find((known) => known === value);
  if (found !== undefined) return found;
  throw new CarillonError("bad_request", `Field ${field} ${JSON.stringify(value)} is none of ${choices.join(", ")}.`);
}
