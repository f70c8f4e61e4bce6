import type { Command } from "commander";
import { type Invocation, textOption } from "../command.js";
import { wholeNumber } from "./number.js";

const DEFAULT_LIMIT = 50;

/** Options and the parameters that they become. */
const filters = [
  ["status", "status"],
  ["task", "task"],
  ["queue", "queue"],
  ["owner", "owner"],
  ["selector", "label_selector"],
  ["since", "created_after"],
] as const;

export function withListFilter(command: Command): Command {
  return withRunFilter(withListLimit(command));
}

/** The same where there is no list. */
export function withRunFilter(command: Command): Command {
  return command
    .option("--status <list>", "only with these statuses, or groups such as pending, separated by commas")
    .option("--task <name>", "only of this task")
    .option("--queue <name>", "only in this queue")
    .option("--owner <name>", "only of this owner")
    .option("-l, --selector <labels>", "only with such labels: a=b,c!=d,e in (x,y)")
    .option("--since <time>", "only those made then or later");
}

export function withListLimit(command: Command): Command {
  return command.option("-n, --limit <count>", "how many at most", wholeNumber(1, 1_000_000), DEFAULT_LIMIT);
}

export function listFilter(invocation: Invocation): Record<string, string> {
  const filter: Record<string, string> = {};
  for (const [option, name] of filters) {
    const value = textOption(invocation, option);
    if (value !== undefined) filter[name] = value;
  }
  return filter;
}

export function listLimit({ options }: Invocation): number {
  const limit = options["limit"];
  return typeof limit === "number" ? limit : DEFAULT_LIMIT;
}
