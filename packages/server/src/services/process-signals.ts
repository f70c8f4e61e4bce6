/** Signals that ask a node to end. A closed terminal (SIGHUP) counts as one. */
export const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
export type StopSignal = (typeof STOP_SIGNALS)[number];

/** Exit code of a process that a signal ended, as shells report it. */
export const SIGNAL_EXIT: Readonly<Record<StopSignal, number>> = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

/**
 * One Ctrl-C can arrive twice: from the terminal to the whole process group, and again from npm, which passes the signal
 * on to its child. Only a signal at least this much later is a second wish.
 */
export const SAME_WISH_MS = 500;

export interface StopReactions {
  /** The first wish: end in order. */
  drain(signal: StopSignal): void;
  /** The second: end now. */
  endNow(signal: StopSignal): void;
}

/** The decision alone, with time as an argument: what each signal means. */
export function stopSignalHandler(reactions: StopReactions, monotonicMs: () => number): (signal: StopSignal) => void {
  let first: number | null = null;
  return (signal) => {
    if (first === null) {
      first = monotonicMs();
      reactions.drain(signal);
    } else if (monotonicMs() - first >= SAME_WISH_MS) {
      reactions.endNow(signal);
    }
  };
}
