import type { Client } from "@carillon/client";
import { type Command, Option } from "commander";
import { type Invocation, textOption } from "../command.js";
import { jobIdOption } from "./job-argument.js";

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
  ["fingerprint", "fingerprint"],
  ["after", "failed_after"],
  ["since", "failed_after"],
  ["before", "failed_before"],
  ["until", "failed_before"],
] as const;

export function withDeadLetterFilter(command: Command): Command {
  return command
    .option("--task <name>", "only of this task")
    .option("--queue <name>", "only in this queue")
    .option("--job <job>", "only of this job: its key, or its id")
    .option("--fingerprint <kind>", "only with this kind of error; see carillon error-group list")
    .option("--since <time>", "only those that failed then or later")
    .option("--until <time>", "only those that failed before then")
    .addOption(new Option("--after <time>", "the same as --since").conflicts("since").hideHelp())
    .addOption(new Option("--before <time>", "the same as --until").conflicts("until").hideHelp());
}

export async function deadLetterFilter(invocation: Invocation, client: Client): Promise<DeadLetterFlags> {
  const job = await jobIdOption(invocation, client);
  const filter: DeadLetterFlags = job === undefined ? {} : { job_id: job };
  for (const [flag, field] of flags) {
    const value = textOption(invocation, flag);
    if (value !== undefined) filter[field] = value;
  }
  return filter;
}
