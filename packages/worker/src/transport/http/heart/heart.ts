import type { DurationMs } from "@carillon/core";
import type { Caller } from "../post.js";

export interface HeartOptions extends Caller {
  readonly urls: readonly string[];
  readonly path: string;
  readonly everyMs: DurationMs;
  /** While the worker has no runs. */
  readonly idleEveryMs: DurationMs;
  /** The server does not know the session any more. */
  readonly onLost: () => void;
}

export interface Beating {
  /** How many signs of life were acknowledged so far. */
  readonly acknowledged: number;
  /** Says whether the worker has runs. */
  hold(isHolding: boolean): void;
  /** A poll was answered, and the next begins: the server hears of the worker by that. */
  polled(): void;
  stop(): void;
}

/** Says again and again that the worker lives. */
export type Heart = (options: HeartOptions) => Beating;
