import { CarillonError } from "../errors/carillon-error.js";
import type { DstPolicy } from "../schedule/spec.js";
import type { DayMatch } from "./fields.js";

/** One question about the next fires of an expression, as a line of JSON asks it. */
export interface CronQuestion {
  readonly expr: string;
  readonly tz: string;
  readonly from: string | undefined;
  readonly count: number;
  readonly dayMatch: DayMatch;
  readonly dst: DstPolicy;
}

const FIELDS = ["expr", "tz", "from", "count", "day_match", "dst"];
const MOST_ANSWERS = 1000;

/** Reads a question and refuses what it does not know: `bad_request` or `unknown_field`. */
export function readCronQuestion(line: string): CronQuestion {
  const asked = asObject(parseJson(line), "the line");
  refuseUnknown(asked, FIELDS);
  const expr = optionalText(asked, "expr");
  if (expr === undefined) throw new CarillonError("bad_request", "expr is missing; write a cron expression");
  return {
    expr,
    tz: optionalText(asked, "tz") ?? "UTC",
    from: optionalText(asked, "from"),
    count: readCount(asked["count"]),
    dayMatch: choice(asked, "day_match", ["or", "and"]) ?? "or",
    dst: readDst(asked["dst"]),
  };
}

function readDst(value: unknown): DstPolicy {
  if (value === undefined) return {};
  const asked = asObject(value, "dst");
  refuseUnknown(asked, ["gap", "overlap"]);
  const gap = choice(asked, "gap", ["after", "skip"]);
  const overlap = choice(asked, "overlap", ["first", "second", "both"]);
  return { ...(gap === undefined ? {} : { gap }), ...(overlap === undefined ? {} : { overlap }) };
}

function readCount(value: unknown): number {
  if (value === undefined) return 1;
  if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= MOST_ANSWERS) return value;
  throw new CarillonError("bad_request", `count is not a whole number from 1 to ${MOST_ANSWERS}`);
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new CarillonError("bad_request", 'the line is not JSON; write one object such as {"expr":"0 9 * * *"}');
  }
}

type JsonObject = Readonly<Record<string, unknown>>;

function asObject(value: unknown, name: string): JsonObject {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw new CarillonError("bad_request", `${name} is not a JSON object`);
}

function refuseUnknown(asked: JsonObject, known: readonly string[]): void {
  const unknown = Object.keys(asked).find((field) => !known.includes(field));
  if (unknown === undefined) return;
  const message = `there is no field ${JSON.stringify(unknown)}; the fields are ${known.join(", ")}`;
  throw new CarillonError("unknown_field", message);
}

function optionalText(asked: JsonObject, field: string): string | undefined {
  const value = asked[field];
  if (value === undefined || typeof value === "string") return value;
  throw new CarillonError("bad_request", `${field} is not a string`);
}

function choice<const Choice extends string>(
  asked: JsonObject,
  field: string,
  choices: readonly Choice[],
): Choice | undefined {
  const value = optionalText(asked, field);
  if (value === undefined) return undefined;
  const found = choices.find((known) => known === value);
  if (found !== undefined) return found;
  throw new CarillonError("bad_request", `${field} ${JSON.stringify(value)} is none of ${choices.join(", ")}`);
}
