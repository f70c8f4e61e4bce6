import type { NewRun } from "@carillon/store";

/** A run that stands alone and may start at once, as most do. */
export function newRun(differs: Partial<NewRun> = {}): NewRun {
  return {
    id: "0190b1f0-0000-7000-8000-000000000001",
    jobId: null,
    namespaceId: 1,
    shard: 3,
    lane: 7,
    priority: 4,
    rank: 9,
    runAt: 0,
    nominal: 0,
    trigger: "once",
    task: "work",
    queue: "default",
    payload: null,
    policy: {},
    labels: {},
    owner: null,
    ...differs,
  };
}
