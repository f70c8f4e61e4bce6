import type { Follower } from "../plan/follower.js";

/** What the maker of a job that follows others knows of it; the instants are those of the caller. */
export interface FollowerLife {
  readonly follower: Follower;
  readonly sentAt: number;
  /** Null when the call ended unknown: the job may exist or not. */
  readonly acknowledgedAt: number | null;
}
