import type { Command } from "commander";
import type { Invocation } from "../command.js";
import { wholeNumber } from "./number.js";

const DEFAULT_WAIT_S = 60;
/** Nobody watches for longer than a month. */
const LONGEST_WAIT_S = 2_678_400;

/** Adds --wait and how long. */
export function withWait(command: Command): Command {
  return withWaitSeconds(
    command.option(
      "--wait",
      "wait until its run has ended; exit code 6 if it failed, 7 if cancelled, 8 if not over in time",
    ),
    "how long --wait waits",
    DEFAULT_WAIT_S,
  );
}

function withWaitSeconds(command: Command, doc: string, usual?: number): Command {
  return command.option("--wait-seconds <number>", doc, wholeNumber(1, LONGEST_WAIT_S), usual);
}

/** Who watches does so to the end, unless they say how long. */
export function withWatchLimit(command: Command): Command {
  return withWaitSeconds(command, "how long to watch (default: to its end)");
}

/** Without end where nothing was said and nothing is usual. */
export function waitLimitMs({ options }: Invocation): number {
  const seconds = options["waitSeconds"];
  return (typeof seconds === "number" ? seconds : Number.POSITIVE_INFINITY) * 1_000;
}
