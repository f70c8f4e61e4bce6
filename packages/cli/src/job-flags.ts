import type { Client } from "@carillon/client";
import type { JobCreate } from "@carillon/contract";
import { misfirePolicies, overlapPolicies } from "@carillon/core";
import { type Command, Option } from "commander";
import { type Invocation, textOption } from "./command.js";
import { label, readJsonArgument, wholeNumber } from "./flags.js";
import type { Io } from "./io.js";
import type { Subject } from "./verbs.js";

/** The flags that describe a new job. */
export function withJobFlags(command: Command): Command {
  command.requiredOption("--task <name>", "what a worker runs: echo, sleep, fail, http, or one of your own");
  command.option("--key <key>", "your own name for the job, unique in the namespace");
  return withDefinitionFlags(command);
}

/** The same for a change: nothing is required, and the key cannot change. */
export function withJobChangeFlags(command: Command): Command {
  return withDefinitionFlags(command.option("--task <name>", "what a worker runs"));
}

function withDefinitionFlags(command: Command): Command {
  return withRunFlags(withScheduleFlags(withPayload(command)))
    .addOption(new Option("--overlap <policy>", "if the run before is still live").choices(overlapPolicies))
    .addOption(new Option("--misfire <policy>", "if a time was missed").choices(misfirePolicies));
}

export function withPayload(command: Command): Command {
  return command.option("--payload <json>", "the input of the task; @file reads a file, - standard input");
}

function withScheduleFlags(command: Command): Command {
  const kinds = ["cron", "every", "at", "delay"];
  const kind = (flags: string, text: string): Option => {
    const option = new Option(flags, text);
    return option.conflicts(kinds.filter((other) => other !== option.attributeName()));
  };
  return command
    .addOption(kind("--cron <expression>", "run by a cron expression"))
    .addOption(kind("--every <duration>", "run repeatedly, as in 15m"))
    .addOption(kind("--at <instant>", "run once at this instant, as in 2030-01-01T09:00:00Z"))
    .addOption(kind("--delay <duration>", "run once after this time"))
    .option("--tz <zone>", "time zone of --cron, or of --at without an offset, as in Europe/Paris");
}

/** What runs have, with a job or without. */
export function withRunFlags(command: Command): Command {
  return command
    .option("--queue <name>", "the queue where runs wait for a worker")
    .option("--priority <number>", "0 to 9, 9 most urgent", wholeNumber(0, 9))
    .option("--timeout <duration>", "for each attempt")
    .option("--max-attempts <number>", "attempts of a run in all", wholeNumber(1, 10_000))
    .option("--label <name=value>", "can be given several times", label)
    .option("--owner <name>", "who owns it");
}

const texts = ["task", "key", "queue", "timeout", "owner", "overlap", "misfire"] as const;

/** The request that the flags describe; the server validates it. */
export async function jobRequest(io: Io, invocation: Invocation): Promise<JobCreate> {
  const request: Record<string, unknown> = await runRequest(io, invocation);
  const schedule: Record<string, string> = {};
  for (const name of ["cron", "every", "at", "delay"]) {
    const value = textOption(invocation, name);
    if (value !== undefined) schedule[name] = value;
  }
  const zone = textOption(invocation, "tz");
  if (zone !== undefined) schedule["time_zone"] = zone;
  if (Object.keys(schedule).length > 0) request["schedule"] = schedule;
  return request as JobCreate;
}

/** The part of it that runs without a job have as well. */
export async function runRequest(io: Io, invocation: Invocation): Promise<Record<string, unknown>> {
  const { options } = invocation;
  const request: Record<string, unknown> = {};
  for (const name of texts) {
    const value = textOption(invocation, name);
    if (value !== undefined) request[name] = value;
  }
  const payload = textOption(invocation, "payload");
  if (payload !== undefined) request["payload"] = await readJsonArgument(io, payload, "--payload");
  if (options["priority"] !== undefined) request["priority"] = options["priority"];
  if (options["maxAttempts"] !== undefined) request["retry"] = { max_attempts: options["maxAttempts"] };
  if (options["label"] !== undefined) request["labels"] = options["label"];
  return request;
}

/** An id, with its prefix or without. */
const idPattern = /^(job_.*|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;

/** A key needs its @ only if it could be an id. */
export const jobName = (text: string): string => (text.startsWith("@") || idPattern.test(text) ? text : `@${text}`);

/** How one job is named on the command line. */
export const job: Subject = { argument: "<job>", argumentHelp: "its key, or its id", toName: jobName };

export const withJobOption = (command: Command): Command =>
  command.option("--job <job>", "only of this job: its key, or its id");

/** The id of the job in --job; undefined if it was not given. */
export async function jobIdOption(invocation: Invocation, client: Client): Promise<string | undefined> {
  const given = textOption(invocation, "job");
  if (given === undefined) return undefined;
  const name = jobName(given);
  return name.startsWith("@") ? (await client.jobs.get(name)).id : name;
}
