import type { JobCreate } from "@carillon/contract";
import { type Command, Option } from "commander";
import { type Invocation, textOption } from "../command.js";
import type { Io } from "../io.js";
import { readJsonArgument } from "./json-value.js";
import { label } from "./label.js";
import { wholeNumber } from "./number.js";

/** The flags that describe a job. */
export function withJobFlags(command: Command): Command {
  const kinds = ["cron", "every", "at", "delay"];
  const kind = (flags: string, text: string): Option => {
    const option = new Option(flags, text);
    return option.conflicts(kinds.filter((other) => other !== option.attributeName()));
  };
  return command
    .requiredOption("--task <name>", "what a worker runs: echo, sleep, fail, http, or one of your own")
    .option("--payload <json>", "what the task is given; @file reads a file, - standard input")
    .addOption(kind("--cron <expression>", "run by a cron expression"))
    .addOption(kind("--every <duration>", "run again and again, as in 15m"))
    .addOption(kind("--at <instant>", "run once at this instant, as in 2030-01-01T09:00:00Z"))
    .addOption(kind("--delay <duration>", "run once after this time"))
    .option("--tz <zone>", "time zone of --cron, or of --at without an offset, as in Europe/Paris")
    .option("--key <key>", "your own name for the job, unique in the namespace")
    .option("--queue <name>", "the queue that its runs join")
    .option("--priority <number>", "0 to 9, 9 most urgent", wholeNumber(0, 9))
    .option("--timeout <duration>", "for each attempt")
    .option("--max-attempts <number>", "how often a run is tried in all", wholeNumber(1, 10_000))
    .option("--label <name=value>", "can be given several times", label, {})
    .option("--owner <name>", "whom it belongs to");
}

/** The request that the flags stand for; the server judges it. */
export async function jobRequest(io: Io, invocation: Invocation): Promise<JobCreate> {
  const { options } = invocation;
  const given = (name: string): string | undefined => textOption(invocation, name);
  const request: Record<string, unknown> = {};
  for (const name of ["task", "key", "queue", "timeout", "owner"])
    if (given(name) !== undefined) request[name] = given(name);
  const payload = given("payload");
  if (payload !== undefined) request["payload"] = await readJsonArgument(io, payload, "--payload");
  if (options["priority"] !== undefined) request["priority"] = options["priority"];
  if (options["maxAttempts"] !== undefined) request["retry"] = { max_attempts: options["maxAttempts"] };
  if (Object.keys(options["label"] ?? {}).length > 0) request["labels"] = options["label"];
  const schedule: Record<string, string> = {};
  for (const name of ["cron", "every", "at", "delay"]) {
    const value = given(name);
    if (value !== undefined) schedule[name] = value;
  }
  const zone = given("tz");
  if (zone !== undefined) schedule["time_zone"] = zone;
  if (Object.keys(schedule).length > 0) request["schedule"] = schedule;
  return request;
}
