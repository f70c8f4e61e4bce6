import type { Clock, DurationMs } from "@carillon/core";
import { AfterRunner } from "../dependencies/dependency-runner.js";
import { Conditions } from "../dependencies/conditions.js";
import { Follower } from "../dependencies/follower.js";
import type { Settled } from "../jobs/transaction/settler.js";
import type { Queryable } from "@carillon/store";
import type { EngineStore } from "./engine-store.js";

export interface FollowingOptions {
  readonly db: Queryable;
  readonly store: EngineStore;
  readonly clock: Clock;
  readonly shards: () => readonly number[];
  readonly onSettled: (settled: Settled) => void;
}

export interface Following {
  readonly follower: Follower;
  /** Runs ended here; answers whether a pass is worth it. */
  readonly hint: () => boolean;
  /** One pass; answers after how long the next is due. */
  readonly tick: () => Promise<DurationMs>;
}

/** The parts that start jobs after others, put together. */
export function makeFollowing({ store, ...options }: FollowingOptions): Following {
  const { dependencies, settle, settler } = store;
  const follower = new Follower(dependencies, new Conditions());
  const runner = new AfterRunner({ ...options, dependencies, settle, settler, follower });
  return {
    follower,
    hint: () => runner.hint(),
    tick: async () => {
      await runner.tick();
      return runner.idleMs;
    },
  };
}
