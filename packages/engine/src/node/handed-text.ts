import type { Instant, RunPolicy } from "@carillon/core";
import type { HandedRuns } from "../dispatch/offering.js";
import type { Offer } from "../model/offers.js";
import { jsonParam } from "../store/db/params.js";
import type { ClaimedRun } from "../store/entities/claimed-run.js";
import type { NewRun } from "../store/entities/runs.js";
import { jsonOrNull } from "../store/entities/parameters.js";

/** NOTIFY takes less than 8,000 bytes, of which the statement adds a few of its own. */
const mostBytes = 7_900;

/** What a gateway is told of runs that were stored for one of its workers, behind their time. */
type Told = readonly [
  from: string,
  sessionId: string,
  lane: number,
  namespaceId: number,
  priority: number,
  policy: string | null,
  runs: readonly (readonly [id: string, rank: number, payload: string])[],
];

/** null: too long to be told. */
export function textOfHanded(from: string, { sessionId }: Offer, runs: readonly NewRun[]): string | null {
  const [first] = runs;
  if (first === undefined) return null;
  const { lane, namespaceId, priority, policy } = first;
  const own = runs.map((run) => [run.id, run.rank, jsonParam(run.payload)] as const);
  const told: Told = [from, sessionId, lane, namespaceId, priority, jsonOrNull(policy), own];
  const text = JSON.stringify(told);
  return text.length > mostBytes || Buffer.byteLength(text) > mostBytes ? null : text;
}

/** `runs`, the time, and what `textOfHanded` wrote. */
export function toHanded(text: string): HandedRuns {
  const at = text.indexOf(" ", 5);
  const [from, sessionId, lane, namespaceId, priority, policyText, runs] = JSON.parse(text.slice(at + 1)) as Told;
  const policy = policyText === null ? {} : (JSON.parse(policyText) as RunPolicy);
  const kind = { lane, namespaceId, priority, policy };
  const runAt = Number(text.slice(5, at));
  return {
    from,
    sessionId,
    runs: runs.map(([id, rank, payload]) => handed({ ...kind, id, rank }, payload, sessionId, runAt)),
  };
}

/** Of this process. */
export function handedHere(from: string, { sessionId }: Offer, runs: readonly NewRun[], at: Instant): HandedRuns {
  return { from, sessionId, runs: runs.map((run) => handed(run, jsonParam(run.payload), sessionId, at)) };
}

type Kept = Pick<NewRun, "id" | "namespaceId" | "lane" | "policy" | "rank" | "priority">;

/** As `run.insert_handed` stores it. */
function handed(run: Kept, payload: string, session: string, at: Instant): ClaimedRun {
  const { id, namespaceId, lane, policy, rank, priority } = run;
  return {
    id,
    jobId: id,
    namespaceId,
    lane,
    session,
    payload,
    policy,
    spent: 0,
    losses: 0,
    fence: 1,
    rank,
    priority,
    runAt: at,
    nominal: at,
    trigger: "once",
    deadline: null,
    isStopped: false,
    isBegun: false,
  };
}
