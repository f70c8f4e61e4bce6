import type { Command } from "commander";
import { type Invocation, textOption } from "../command.js";
import { wholeNumber } from "./number.js";

const DEFAULT_LIMIT = 50;

export function withListFilter(command: Command): Command {
  return withListLimit(command)
    .option("--status <list>", "only with these statuses, or groups such as pending, separated by commas")
    .option("--task <name>", "only of this task")
    .option("--queue <name>", "only in this queue")
    .option("--owner <name>", "only of this owner");
}

export function withListLimit(command: Command): Command {
  return command.option("-n, --limit <count>", "how many at most", wholeNumber(1, 1_000_000), DEFAULT_LIMIT);
}

export function listFilter(invocation: Invocation): Record<string, string> {
  const filter: Record<string, string> = {};
  for (const name of ["status", "task", "queue", "owner"]) {
    const value = textOption(invocation, name);
    if (value !== undefined) filter[name] = value;
  }
  return filter;
}

export function listLimit({ options }: Invocation): number {
  const limit = options["limit"];
  return typeof limit === "number" ? limit : DEFAULT_LIMIT;
}
