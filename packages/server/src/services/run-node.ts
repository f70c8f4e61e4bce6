import type { EventEmitter } from "node:events";
import { systemClock } from "@carillon/core";
import type { Logger } from "pino";
import { guardProcess } from "./process-guard.js";
import { SIGNAL_EXIT } from "./process-signals.js";
import { within } from "../timeout.js";
import type { NodeFacts } from "./node.js";

/** What a process runs until it is asked to end. */
export interface Running<Facts> {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** The process ends now. */
  abandon(): void;
  readonly facts: Facts;
}

export interface RunNodeOptions<Facts = NodeFacts> {
  readonly node: Running<Facts>;
  readonly logger: Logger;
  /** For the whole way down: running work, connections, the database's last checkpoint. */
  readonly stopLimitMs: number;
  readonly onReady: (facts: Facts) => void;
  /** Fires when somebody else asks it to end. */
  readonly asked?: AbortSignal;
  readonly process: EventEmitter & { exit(code: number): void };
}

/** Runs a node, or a worker, until a signal asks it to end. Returns the exit code; throws what made the start fail. */
export async function runNode<Facts>(options: RunNodeOptions<Facts>): Promise<number> {
  const { node, logger, process } = options;
  const endNow = (code: number): void => {
    node.abandon();
    process.exit(code);
  };
  const asked = { stop: () => {} };
  const stopAsked = new Promise<void>((resolve) => {
    asked.stop = resolve;
  });
  options.asked?.addEventListener("abort", () => asked.stop());
  // Asked before there was anything to end.
  if (options.asked?.aborted) asked.stop();
  const leave = guardProcess(
    process,
    {
      drain(signal) {
        logger.info({ signal }, "draining; a second signal ends at once");
        asked.stop();
      },
      endNow(signal) {
        logger.warn({ signal }, "ending at once");
        endNow(SIGNAL_EXIT[signal]);
      },
      fatal(error) {
        logger.fatal({ err: error }, "unexpected error; the node ends");
        endNow(1);
      },
    },
    () => systemClock.monotonic(),
  );
  try {
    if (await serveUntil(stopAsked, options)) return 0;
    endNow(1);
    return 1;
  } finally {
    leave();
  }
}

/** True when everything was stopped in time. */
async function serveUntil<Facts>(stopAsked: Promise<void>, options: RunNodeOptions<Facts>): Promise<boolean> {
  const { node, logger, stopLimitMs, onReady } = options;
  const started = node.start().then(() => "started" as const);
  // A stop during the start makes that start throw shutting_down, which then is no failure.
  started.catch(() => {});
  if ((await Promise.race([started, stopAsked])) === "started") {
    onReady(node.facts);
    await stopAsked;
  }
  return within(stopLimitMs, stopInOrder(options), () => {
    logger.error(`not stopped within ${stopLimitMs} ms; what still runs is rescued later`);
    return false;
  });
}

async function stopInOrder({ node, logger }: Pick<RunNodeOptions<unknown>, "node" | "logger">): Promise<boolean> {
  try {
    await node.stop();
    logger.info("stopped");
    return true;
  } catch (error) {
    logger.error({ err: error }, "not everything was stopped in order; what still runs is rescued later");
    return false;
  }
}
