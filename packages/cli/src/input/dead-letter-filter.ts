import type { Client } from "@carillon/client";
import { type Command, Option } from "commander";
import { type Invocation, textOption } from "../command.js";
import { pastTime } from "../flags.js";
import type { Io } from "../io.js";
import { jobIdOption } from "../job-flags.js";

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
    .option("--since <time>", "only those that failed then or later: a time, or 2h for two hours ago")
    .option("--until <time>", "only those that failed before then, in the same way")
    .addOption(new Option("--after <time>", "the same as --since").conflicts("since").hideHelp())
    .addOption(new Option("--before <time>", "the same as --until").conflicts("until").hideHelp());
}

export async function deadLetterFilter(
  io: Pick<Io, "now">,
  invocation: Invocation,
  client: Client,
): Promise<DeadLetterFlags> {
  const job = await jobIdOption(invocation, client);
  const filter: DeadLetterFlags = job === undefined ? {} : { job_id: job };
  for (const [flag, field] of flags) {
    const value = textOption(invocation, flag);
    if (value !== undefined) filter[field] = field.startsWith("failed_") ? pastTime(value, io.now()) : value;
  }
  return filter;
}
