import type { EventEmitter } from "node:events";
import { STOP_SIGNALS, type StopReactions, stopSignalHandler } from "./process-signals.js";

export interface GuardReactions extends StopReactions {
  /** An error that nothing handled: the state of the process is unknown from here on. */
  fatal(error: unknown): void;
}

/** Listens to the process; returns how to leave it again. */
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
