import type { Follower, FollowerChange } from "../plan/follower.js";
import type { DoneChange } from "./life.js";

/** What the maker of a job that follows others knows of it; the instants are those of the caller. */
export interface FollowerLife {
  readonly follower: Follower;
  readonly sentAt: number;
  /** Null when the call ended unknown: the job may exist or not. */
  readonly acknowledgedAt: number | null;
  /** In order; only the last can be unsettled. */
  readonly changes: readonly DoneChange<FollowerChange>[];
}
