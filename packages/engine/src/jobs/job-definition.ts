import { isDeepStrictEqual } from "node:util";
import { type JobSpec, ownFiring, shownLabels } from "@carillon/core";
import type { LockedJob } from "@carillon/store";

/** A stored job as its user would write it. */
export function specOf(job: LockedJob): JobSpec {
  const { key, task, queue, priority, payload, schedule, policy, firing, labels, owner } = job;
  return {
    ...(key === null ? {} : { key }),
    task,
    queue,
    priority,
    payload,
    schedule,
    policy,
    ...(Object.keys(firing).length === 0 ? {} : { firing }),
    labels: shownLabels(labels),
    ...(owner === null ? {} : { owner }),
  };
}

/** Whether two definitions say the same, however they were written down. */
export function isSameSpec(a: JobSpec, b: JobSpec): boolean {
  return isDeepStrictEqual(plain(a), plain(b));
}

/** Whether two rules fire at the same instants by construction. */
export function isSameSchedule(a: Pick<JobSpec, "schedule">, b: Pick<JobSpec, "schedule">): boolean {
  return isDeepStrictEqual(asJson(a.schedule), asJson(b.schedule));
}

function plain({ firing = {}, ...rest }: JobSpec): unknown {
  return asJson({ ...rest, payload: rest.payload ?? null, firing: ownFiring(firing) });
}

/** Members that are undefined are not stored. */
function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
