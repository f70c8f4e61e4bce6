import type { EventEmitter } from "node:events";

/** Signals that ask a process to stop. SIGHUP is sent when its terminal closes. */
export const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
export type StopSignal = (typeof STOP_SIGNALS)[number];

/** The exit code of a process that a signal ended, as shells report it. */
export const SIGNAL_EXIT: Readonly<Record<StopSignal, number>> = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

/**
 * One Ctrl-C can arrive twice: from the terminal, which signals the whole process group, and from npm, which forwards the signal
 * to its child. Only a signal at least this much later is a second request.
 */
export const REPEATED_SIGNAL_MS = 500;

export interface StopReactions {
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

export interface GuardReactions extends StopReactions {
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
