import { readFile } from "node:fs/promises";
import { text as readAll } from "node:stream/consumers";
import { CarillonError, formatInstant, parseDuration } from "@carillon/core";
import { type Command, InvalidArgumentError, Option } from "commander";
import { type Invocation, flagOption, textOption } from "./command.js";
import { usageError } from "./exit-codes.js";
import type { Io } from "./io.js";

export const defaultLimit = 50;

/** Flags and the query parameters that they become. */
const filters = [
  ["status", "status"],
  ["task", "task"],
  ["queue", "queue"],
  ["owner", "owner"],
  ["selector", "label_selector"],
  ["since", "created_after"],
  ["until", "created_before"],
] as const;

const times = new Set<string>(["since", "until"]);

export function withListOrder(command: Command): Command {
  return command.option("--oldest-first", "in the order of their creation");
}

export function withRunFilter(command: Command): Command {
  return command
    .option("--status <list>", "only with these statuses, or groups such as pending, separated by commas")
    .option("--task <name>", "only of this task")
    .option("--queue <name>", "only in this queue")
    .option("--owner <name>", "only of this owner")
    .option("-l, --selector <labels>", "only with such labels: a=b,c!=d,e in (x,y)")
    .option("--since <time>", "only those created then or later: a time, or 2h for two hours ago")
    .option("--until <time>", "only those created before then, in the same way")
    .option(
      "--match <path=value>",
      "only with this value in the payload, at a path that was declared searchable",
      pathValue,
    );
}

export function withListLimit(command: Command): Command {
  return command.option("-n, --limit <count>", "how many at most", wholeNumber(1, 1_000_000), defaultLimit);
}

export function listFilter(io: Pick<Io, "now">, invocation: Invocation): Record<string, string> {
  const filter: Record<string, string> = {};
  for (const [option, name] of filters) {
    const value = textOption(invocation, option);
    if (value !== undefined) filter[name] = times.has(option) ? pastTime(value, io.now()) : value;
  }
  for (const [path, value] of Object.entries(matches(invocation))) filter[`payload.${path}`] = value;
  if (flagOption(invocation, "oldestFirst")) filter["order_by"] = "created_at asc";
  return filter;
}

/** Values by their paths in the payload. */
export function matches({ options }: Invocation): Readonly<Record<string, string>> {
  return (options["match"] ?? {}) as Record<string, string>;
}

/** Reads one more --match path=value. */
function pathValue(text: string, before: Readonly<Record<string, string>> = {}): Record<string, string> {
  const [, path, value] = /^(?:payload\.)?([^=]+)=(.*)$/.exec(text) ?? [];
  if (path === undefined || value === undefined)
    throw usageError(`--match ${text}: A condition looks like customer.id=42.`);
  return { ...before, [path]: value };
}

export function listLimit({ options }: Invocation): number {
  const limit = options["limit"];
  return typeof limit === "number" ? limit : defaultLimit;
}

/** A parser for commander: a whole number in a range, or a usage error. */
export function wholeNumber(least: number, most: number): (value: string) => number {
  return (value) => {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
}

/** The same for a duration, which stays text. */
export function durationWithin(least: string, most: string): (value: string) => string {
  const [minMs, maxMs] = [parseDuration(least), parseDuration(most)];
  return (value) => {
    const ms = durationMs(value);
    if (ms !== null && ms >= minMs && ms <= maxMs) return value;
    throw new InvalidArgumentError(`It must be a duration from ${least} to ${most}, as in 90s.`);
  };
}

function durationMs(text: string): number | null {
  try {
    return parseDuration(text);
  } catch (error) {
    if (error instanceof CarillonError) return null;
    throw error;
  }
}

/** The same for any number. */
export function numberWithin(least: number, most: number): (value: string) => number {
  return (value) => {
    const number = /^\d{1,9}(\.\d{1,9})?$/.test(value) ? Number(value) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new InvalidArgumentError(`It must be a number from ${least} to ${most}.`);
  };
}

/** `2h` is two hours ago; the server reads everything else as a time. */
export function pastTime(text: string, now: number): string {
  const ms = durationMs(text);
  return ms === null ? text : formatInstant(now - ms);
}

/** Reads one more --label name=value. */
export function label(text: string, before: Readonly<Record<string, string>> = {}): Record<string, string> {
  const at = text.indexOf("=");
  if (at <= 0) throw usageError(`--label ${text}: A label looks like name=value.`);
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}

/** JSON from the command line itself, from @file, or from standard input with -. */
export async function readJsonArgument(io: Io, given: string, flag: string): Promise<unknown> {
  const source = await sourceText(io, given, flag);
  try {
    return JSON.parse(source);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const hint = given === source ? "; quote it for the shell, as in '{\"a\":1}'" : "";
    throw usageError(`${flag} is not JSON: ${reason}${hint}`);
  }
}

async function sourceText(io: Io, given: string, flag: string): Promise<string> {
  if (given === "-") return readAll(io.stdin);
  return given.startsWith("@") ? readFileText(given.slice(1), `${flag}: `) : given;
}

/** A file that cannot be read is a usage error, whose message begins with `prefix`. */
export async function readFileText(path: string, prefix = ""): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw usageError(`${prefix}${error instanceof Error ? error.message : String(error)}`);
  }
}

const levels = ["debug", "info", "warn", "error"] as const;

export function withLevel(target: Command): Command {
  return target.addOption(new Option("--level <level>", "this level and those above").choices(levels));
}

export function levelOption({ options }: Invocation): (typeof levels)[number] | undefined {
  return levels.find((level) => level === options["level"]);
}

/** Why, and for how long, a job or a queue is paused. */
export function withPauseFlags(target: Command): Command {
  return target
    .option("--reason <text>", "why, for people who find it paused")
    .addOption(new Option("--for <duration>", "resume automatically after this time, as in 2h").conflicts("until"))
    .option("--until <instant>", "resume automatically then, as in 2030-01-01T09:00:00Z");
}
