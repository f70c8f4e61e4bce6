import type { FollowerLife } from "../targets/follower-life.js";
import type { RunRow } from "./evidence.js";
import { hasEnded, slackMs } from "./follower-standing.js";
import type { Violation } from "./verdict.js";

export interface RoundVerdict {
  readonly ok: number;
  readonly violations: readonly Violation[];
}

/** The runs of a round, in the order of the jobs that are followed. */
const roundOf = ({ trigger }: RunRow): string[] => trigger.split(":").slice(2);

/**
 * Of a job that starts after all of several: did each start name one end of each of them, none of them a second time; and was there
 * never one of each that started nothing?
 */
export function judgeRounds(life: FollowerLife, made: readonly RunRow[], runs: readonly RunRow[]): RoundVerdict {
  const { key, follows } = life.follower;
  const ends = new Map(runs.filter((run) => follows.includes(run.job) && hasEnded(run)).map((run) => [run.id, run]));
  const named = new Set<string>();
  const violations: Violation[] = [];
  const spans: Span[] = [];
  let ok = 0;
  for (const run of made) {
    const round = roundOf(run).map((id) => ends.get(id));
    const isWhole = round.length === follows.length && round.every((end, index) => end?.job === follows[index]);
    const isRepeated = roundOf(run).some((id) => named.has(id));
    for (const id of roundOf(run)) named.add(id);
    const of = { job: key, nominal: run.nominal };
    if (!isWhole) violations.push({ ...of, kind: "UNEXPECTED", detail: `run ${run.id}: no round (${run.trigger})` });
    else if (isRepeated) violations.push({ ...of, kind: "DOUBLE", detail: `run ${run.id}: an end started two rounds` });
    else ok += 1;
    const instants = round.flatMap((end) => end?.finishedAt ?? []);
    spans.push({ from: Math.min(...instants), to: Math.max(...instants) });
  }
  const missed = life.acknowledgedAt === null ? [] : gapsIn(spans, life.acknowledgedAt).filter(holdsRound);
  return { ok, violations: [...violations, ...missed.map(toViolation)] };

  /** One end of each lies between two rounds, away from both. */
  function holdsRound({ from, to }: Span): boolean {
    return follows.every((job) =>
      [...ends.values()].some((end) => end.job === job && isBetween(end.finishedAt ?? 0, { from, to })),
    );
  }

  function toViolation({ from }: Span): Violation {
    return {
      job: key,
      nominal: from,
      kind: "MISSED",
      detail: `one end of each of ${follows.join(", ")} started nothing`,
    };
  }
}

interface Span {
  readonly from: number;
  readonly to: number;
}

function isBetween(at: number, { from, to }: Span): boolean {
  return at > from + slackMs && at < to - slackMs;
}

/** From the last end of a round to the first of the next. */
function gapsIn(rounds: readonly Span[], begin: number): Span[] {
  const sorted = [...rounds].sort((one, other) => one.to - other.to);
  const begins = [begin, ...sorted.map(({ to }) => to)];
  const ends = [...sorted.map(({ from }) => from), Number.POSITIVE_INFINITY];
  return begins.map((from, index) => ({ from, to: ends[index] ?? from }));
}
