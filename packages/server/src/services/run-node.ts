import type { EventEmitter } from "node:events";
import { systemClock } from "@carillon/core";
import type { Logger } from "pino";
import { withTimeout } from "../timeout.js";
import type { NodeFacts } from "./node.js";

/** What a process runs until it is asked to stop: a node or a worker. */
export interface Runnable<Facts> {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Called when the process exits at once. */
  abandon(): void;
  readonly facts: Facts;
}

export interface RunNodeOptions<Facts = NodeFacts> {
  readonly node: Runnable<Facts>;
  readonly logger: Logger;
  /** For the whole stop: running work, connections, the last checkpoint of the database. */
  readonly stopLimitMs: number;
  readonly onReady: (facts: Facts) => void;
  /** Aborted to request a stop without a signal. */
  readonly stopSignal?: AbortSignal;
  readonly process: EventEmitter & { exit(code: number): void };
}

/** Runs a node, or a worker, until a signal asks it to stop. Returns the exit code; throws the error of a failed start. */
export async function runNode<Facts>(options: RunNodeOptions<Facts>): Promise<number> {
  const { node, logger, process } = options;
  const endNow = (code: number): void => {
    node.abandon();
    process.exit(code);
  };
  let requestStop: () => void = () => {};
  const stopRequested = new Promise<void>((resolve) => {
    requestStop = resolve;
  });
  options.stopSignal?.addEventListener("abort", requestStop);
  if (options.stopSignal?.aborted) requestStop();
  const removeGuard = guardProcess(
    process,
    {
      drain(signal) {
        logger.info({ signal }, "draining; a second signal stops at once");
        requestStop();
      },
      endNow(signal) {
        logger.warn({ signal }, "stopping at once");
        endNow(SIGNAL_EXIT[signal]);
      },
      fatal(error) {
        logger.fatal({ err: error }, "unexpected error; the process exits");
        endNow(1);
      },
    },
    () => systemClock.monotonic(),
  );
  try {
    if (await serveUntil(stopRequested, options)) return 0;
    endNow(1);
    return 1;
  } finally {
    removeGuard();
  }
}

/** True when everything was stopped in time. */
async function serveUntil<Facts>(stopRequested: Promise<void>, options: RunNodeOptions<Facts>): Promise<boolean> {
  const { node, logger, stopLimitMs, onReady } = options;
  const started = node.start().then(() => "started" as const);
  // A stop during the start makes the start throw shutting_down, which is then not a failure.
  started.catch(() => {});
  if ((await Promise.race([started, stopRequested])) === "started") {
    onReady(node.facts);
    await stopRequested;
  }
  return withTimeout(stopLimitMs, stopInOrder(options), () => {
    logger.error(`not stopped within ${stopLimitMs} ms; other nodes will rescue the runs in flight`);
    return false;
  });
}

async function stopInOrder({ node, logger }: Pick<RunNodeOptions<unknown>, "node" | "logger">): Promise<boolean> {
  try {
    await node.stop();
    logger.info("stopped");
    return true;
  } catch (error) {
    logger.error({ err: error }, "some services did not stop in order; other nodes will rescue the runs in flight");
    return false;
  }
}

/** Signals that ask a process to stop. SIGHUP is sent when its terminal closes. */
const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
export type StopSignal = (typeof STOP_SIGNALS)[number];

/** The exit code of a process that a signal ended, as shells report it. */
export const SIGNAL_EXIT: Readonly<Record<StopSignal, number>> = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

/**
 * One Ctrl-C can arrive twice: from the terminal, which signals the whole process group, and from npm, which forwards the signal
 * to its child. Only a signal at least this much later is a second request.
 */
export const REPEATED_SIGNAL_MS = 500;

interface StopReactions {
  /** The first request: stop in order. */
  drain(signal: StopSignal): void;
  /** The second request: exit now. */
  endNow(signal: StopSignal): void;
}

/** The rule for each signal, with time as an argument. */
export function stopSignalHandler(reactions: StopReactions, monotonicMs: () => number): (signal: StopSignal) => void {
  let first: number | null = null;
  return (signal) => {
    if (first === null) {
      first = monotonicMs();
      reactions.drain(signal);
    } else if (monotonicMs() - first >= REPEATED_SIGNAL_MS) {
      reactions.endNow(signal);
    }
  };
}

interface GuardReactions extends StopReactions {
  /** An unhandled error: the state of the process is unknown. */
  fatal(error: unknown): void;
}

/** Handles the signals and unhandled errors of a process; returns the function that removes the handlers. */
export function guardProcess(source: EventEmitter, reactions: GuardReactions, monotonicMs: () => number): () => void {
  const onSignal = stopSignalHandler(reactions, monotonicMs);
  const onFatal = (error: unknown): void => reactions.fatal(error);
  for (const signal of STOP_SIGNALS) source.on(signal, onSignal);
  source.on("uncaughtException", onFatal);
  source.on("unhandledRejection", onFatal);
  return () => {
    for (const signal of STOP_SIGNALS) source.off(signal, onSignal);
    source.off("uncaughtException", onFatal);
    source.off("unhandledRejection", onFatal);
  };
}
