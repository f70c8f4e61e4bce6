import { type CronSchedule, type Instant, type ScheduleContext, parseInstant } from "@carillon/core";
import type { Command } from "commander";
import { type Invocation, requiredArg, textOption } from "../command.js";
import type { Io } from "../io.js";

/** No job yet: without jitter the id plays no part. */
export const NO_JOB: ScheduleContext = { jobId: "" };

export function withCronFlags(command: Command): Command {
  return command
    .option("--tz <zone>", "time zone, as in Europe/Paris", "UTC")
    .option("--from <instant>", "count from here, as in 2030-01-01T00:00:00Z (default: now)");
}

const zoneOf = (invocation: Invocation): string => textOption(invocation, "tz") ?? "UTC";

/** The schedule that the command line describes; compiling it is what judges it. */
export function cronOf(invocation: Invocation): CronSchedule {
  return { kind: "cron", cron: requiredArg(invocation, 0), timeZone: zoneOf(invocation) };
}

/** --from, a wall time of --tz if it has no offset, or now. */
export function fromOf(io: Io, invocation: Invocation): Instant {
  const from = textOption(invocation, "from");
  return from === undefined ? io.now() : parseInstant(from, zoneOf(invocation));
}
