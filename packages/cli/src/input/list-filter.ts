import type { Command } from "commander";
import { CliError } from "../cli-error.js";
import { flagOption, type Invocation, textOption } from "../command.js";
import { ExitCode } from "../exit-codes.js";
import type { Io } from "../io.js";
import { wholeNumber } from "./number.js";
import { pastTime } from "./past-time.js";

const DEFAULT_LIMIT = 50;

/** Options and the parameters that they become. */
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

export function withListFilter(command: Command): Command {
  return withRunFilter(withListLimit(command)).option("--oldest-first", "in the order in which they were made");
}

/** The same where there is no list. */
export function withRunFilter(command: Command): Command {
  return command
    .option("--status <list>", "only with these statuses, or groups such as pending, separated by commas")
    .option("--task <name>", "only of this task")
    .option("--queue <name>", "only in this queue")
    .option("--owner <name>", "only of this owner")
    .option("-l, --selector <labels>", "only with such labels: a=b,c!=d,e in (x,y)")
    .option("--since <time>", "only those made then or later: a time, or 2h for two hours ago")
    .option("--until <time>", "only those made before then, in the same way")
    .option(
      "--match <path=value>",
      "only with this value in the payload, at a path that was declared searchable",
      pathValue,
    );
}

export function withListLimit(command: Command): Command {
  return command.option("-n, --limit <count>", "how many at most", wholeNumber(1, 1_000_000), DEFAULT_LIMIT);
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
    throw new CliError(ExitCode.usage, `--match ${text}: it must look like customer.id=42`);
  return { ...before, [path]: value };
}

export function listLimit({ options }: Invocation): number {
  const limit = options["limit"];
  return typeof limit === "number" ? limit : DEFAULT_LIMIT;
}
