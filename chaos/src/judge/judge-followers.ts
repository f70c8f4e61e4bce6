import type { FollowerLife } from "../targets/follower-life.js";
import type { Evidence, RunRow } from "./evidence.js";
import { groupBy } from "./group-by.js";
import type { JournalView } from "./journal-view.js";
import type { Verdict, Violation } from "./verdict.js";

type FollowerVerdict = Pick<Verdict, "followed" | "violations">;

export const isFollowing = ({ trigger }: RunRow): boolean => trigger.startsWith("after:");

/** The run whose end started this one. */
const upstreamOf = ({ trigger }: RunRow): string => trigger.split(":")[1] ?? "";

/** Did every end that a job follows start it once, and nothing else? */
export function judgeFollowers({ followers, runs }: Evidence, journal: JournalView): FollowerVerdict {
  const following = groupBy(runs.filter(isFollowing), (run) => run.job);
  const counts = { ok: 0, optional: 0 };
  const violations: Violation[] = [];
  for (const life of followers) {
    const { key } = life.follower;
    const startedBy = groupBy(following.get(key) ?? [], upstreamOf);
    following.delete(key);
    for (const end of runs.filter((run) => isFollowed(run, life))) {
      const made = startedBy.get(end.id) ?? [];
      startedBy.delete(end.id);
      const flaw = flawOf(end, made, { life, journal });
      if (flaw === "optional") counts.optional += 1;
      else if (flaw === null) counts.ok += 1;
      else violations.push({ ...flaw, job: key, nominal: end.finishedAt });
    }
    violations.push(...[...startedBy.values()].flat().map(unexpected));
  }
  violations.push(...[...following.values()].flat().map(unexpected));
  return { followed: counts, violations };
}

function isFollowed({ job, status }: RunRow, { follower: { follows, on } }: FollowerLife): boolean {
  if (!follows.includes(job) || status === "live" || status === "skipped") return false;
  return on === "finish" || status === "succeeded";
}

type Flaw = Pick<Violation, "kind" | "detail">;

/** What ended before the job was acknowledged may have started it or not. */
function flawOf(
  end: RunRow,
  made: readonly RunRow[],
  { life, journal }: { life: FollowerLife; journal: JournalView },
): Flaw | "optional" | null {
  const [run] = made;
  const what = `the end of run ${end.id} of ${end.job}`;
  if (run === undefined) {
    const isRequired = life.acknowledgedAt !== null && (end.finishedAt ?? 0) > life.acknowledgedAt;
    return isRequired ? { kind: "MISSED", detail: `${what} started nothing` } : "optional";
  }
  const ids = new Set(made.map(({ id }) => id));
  if (ids.size > 1) return { kind: "DOUBLE", detail: `${what} started ${ids.size} runs` };
  if (run.status === "live") return { kind: "UNDONE", detail: `what ${what} started did not end within the bound` };
  if (run.status === "succeeded" && journal.startsOf(run.id).length === 0)
    return { kind: "MISSED", detail: `what ${what} started ended without its work` };
  return null;
}

function unexpected({ id, job, nominal, trigger }: RunRow): Violation {
  return { kind: "UNEXPECTED", job, nominal, detail: `run ${id}: nothing that it follows ended so (${trigger})` };
}
