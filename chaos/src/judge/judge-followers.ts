import type { FollowerLife } from "../targets/follower-life.js";
import type { Evidence, RunRow } from "./evidence.js";
import { hasEnded, type Standing, standingOf } from "./follower-standing.js";
import { groupBy } from "./group-by.js";
import type { JournalView } from "./journal-view.js";
import { judgeRounds } from "./judge-rounds.js";
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
    const made = following.get(life.follower.key) ?? [];
    following.delete(life.follower.key);
    if (life.follower.mode === "all") {
      const rounds = judgeRounds(life, made, runs);
      counts.ok += rounds.ok;
      violations.push(...rounds.violations, ...made.flatMap((run) => unworked(run, journal) ?? []));
      continue;
    }
    const each = judgeEach({ life, made, runs, journal });
    counts.ok += each.followed.ok;
    counts.optional += each.followed.optional;
    violations.push(...each.violations);
  }
  violations.push(...[...following.values()].flat().map(unexpected));
  return { followed: counts, violations };
}

interface Following {
  readonly life: FollowerLife;
  readonly made: readonly RunRow[];
  readonly runs: readonly RunRow[];
  readonly journal: JournalView;
}

/** Of a job that each end starts by itself. */
function judgeEach({ life, made, runs, journal }: Following): FollowerVerdict {
  const { key, follows } = life.follower;
  const startedBy = groupBy(made, upstreamOf);
  const followed = { ok: 0, optional: 0 };
  const violations: Violation[] = [];
  const ends = runs.filter((run) => follows.includes(run.job) && hasEnded(run));
  for (const end of ends) {
    const flaw = flawOf(end, startedBy.get(end.id) ?? [], { standing: standingOf(end, life, ends), journal });
    startedBy.delete(end.id);
    if (flaw === "optional") followed.optional += 1;
    else if (flaw === "ok") followed.ok += 1;
    else if (flaw !== null) violations.push({ ...flaw, job: key, nominal: end.finishedAt });
  }
  violations.push(...[...startedBy.values()].flat().map(unexpected));
  return { followed, violations };
}

type Flaw = Pick<Violation, "kind" | "detail">;

/** null: it does not count, and started nothing. */
function flawOf(
  end: RunRow,
  made: readonly RunRow[],
  { standing, journal }: { standing: Standing; journal: JournalView },
): Flaw | "ok" | "optional" | null {
  const [run] = made;
  const what = `the end of run ${end.id} of ${end.job}`;
  if (run === undefined) {
    if (standing === "required") return { kind: "MISSED", detail: `${what} started nothing` };
    return standing === "optional" ? "optional" : null;
  }
  if (standing === "barred") return { kind: "UNEXPECTED", detail: `${what} does not count, and started run ${run.id}` };
  const ids = new Set(made.map(({ id }) => id));
  if (ids.size > 1) return { kind: "DOUBLE", detail: `${what} started ${ids.size} runs` };
  return unworked(run, journal) ?? "ok";
}

function unworked(run: RunRow, journal: JournalView): Violation | null {
  const of = { job: run.job, nominal: run.nominal };
  if (run.status === "live") return { ...of, kind: "UNDONE", detail: `run ${run.id} did not end within the bound` };
  if (run.status === "succeeded" && journal.startsOf(run.id).length === 0)
    return { ...of, kind: "MISSED", detail: `run ${run.id} ended without its work` };
  return null;
}

function unexpected({ id, job, nominal, trigger }: RunRow): Violation {
  return { kind: "UNEXPECTED", job, nominal, detail: `run ${id}: nothing that it follows ended so (${trigger})` };
}
