import type { Instant, RunPolicy } from "@carillon/core";
import type { HandedWord } from "./direct-arrivals.js";
import { type ClaimedRun, jsonOrNull, jsonParam, type NewRun, type Offer } from "@carillon/store";

/** What cannot be read by this version of a node is not read at all: its look finds the runs. */
const version = 1;
/** NOTIFY takes less than 8,000 bytes; sealed, three become four, and the statement writes a time before them. */
const mostBytes = 5_900;

type RunTold = readonly [id: string, rank: number, payload: string];
type Told = readonly [
  version: number,
  from: string,
  sessionId: string,
  lane: number,
  namespaceId: number,
  token: string,
  number: number,
  /** The runs themselves, if there is room for them; else their ids. */
  content:
    | { readonly priority: number; readonly policy: string | null; readonly runs: readonly RunTold[] }
    | readonly string[],
];

export const textOfOffer = (offer: Offer): string => JSON.stringify([version, offer]);

/** null: not of this version. */
export function offerOf(text: string): Offer | null {
  const [of, offer] = JSON.parse(text) as [number, Offer];
  return of === version ? offer : null;
}

/** What the gateway of an offer is told of runs that are stored by it; null: they are too many. */
export function textOfWord(from: string, offer: Offer, number: number, runs: readonly NewRun[]): string | null {
  const { sessionId, lane, namespaceId, token } = offer;
  const head = [version, from, sessionId, lane, namespaceId, token, number] as const;
  const whole: Told = [...head, contentOf(runs)];
  const text = JSON.stringify(whole);
  if (fits(text)) return text;
  const short: Told = [...head, runs.map((run) => run.id)];
  const shortText = JSON.stringify(short);
  return fits(shortText) ? shortText : null;
}

const fits = (text: string): boolean => text.length <= mostBytes && Buffer.byteLength(text) <= mostBytes;

function contentOf(runs: readonly NewRun[]): Told[7] {
  const [first] = runs;
  const { priority = 0, policy } = first ?? {};
  return {
    priority,
    policy: jsonOrNull(policy),
    runs: runs.map((run) => [run.id, run.rank, jsonParam(run.payload)]),
  };
}

/** `at`: when the runs were stored. null: not of this version. */
export function wordOf(text: string, at: Instant): HandedWord | null {
  const [of, from, sessionId, lane, namespaceId, token, number, content] = JSON.parse(text) as Told;
  if (of !== version) return null;
  const place = { from, sessionId, lane, namespaceId, by: { token, number, at } };
  if (!("runs" in content)) return { ...place, ids: content, runs: null };
  const policy = content.policy === null ? {} : (JSON.parse(content.policy) as RunPolicy);
  const same = { lane, namespaceId, policy, priority: content.priority, session: sessionId, at };
  const runs = content.runs.map(([id, rank, payload]) => handedRun({ ...same, id, rank, payload }));
  return { ...place, ids: runs.map((run) => run.id), runs };
}

interface Kept extends Pick<ClaimedRun, "id" | "namespaceId" | "lane" | "policy" | "rank" | "priority" | "session"> {
  readonly payload: string;
  readonly at: Instant;
}

/** As `run.insert_handed` stores it. */
export function handedRun({ id, namespaceId, lane, session, payload, policy, rank, priority, at }: Kept): ClaimedRun {
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
