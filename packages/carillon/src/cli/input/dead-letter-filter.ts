import type { Command } from "commander";
import { type Invocation, textOption } from "../command.js";

export interface DeadLetterFlags {
  task?: string;
  queue?: string;
  job_id?: string;
  fingerprint?: string;
  failed_after?: string;
  failed_before?: string;
}

const flags = [
  ["task", "task"],
  ["queue", "queue"],
  ["job", "job_id"],
  ["fingerprint", "fingerprint"],
  ["after", "failed_after"],
  ["before", "failed_before"],
] as const;

export function withDeadLetterFilter(command: Command): Command {
  return command
    .option("--task <name>", "only of this task")
    .option("--queue <name>", "only in this queue")
    .option("--job <id>", "only of this job")
    .option("--fingerprint <kind>", "only with this kind of error; see carillon error-group list")
    .option("--after <time>", "only those that failed then or later")
    .option("--before <time>", "only those that failed before then");
}

export function deadLetterFilter(invocation: Invocation): DeadLetterFlags {
  const filter: DeadLetterFlags = {};
  for (const [flag, field] of flags) {
    const value = textOption(invocation, flag);
    if (value !== undefined) filter[field] = value;
  }
  return filter;
}
