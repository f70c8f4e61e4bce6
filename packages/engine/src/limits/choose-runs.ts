import type { Instant, KeyedLimit } from "@carillon/core";
import { nextRoomAt, rateRoom, type RateState } from "./rate-window.js";

/** The locked row of a limit. */
export interface LimitState {
  readonly id: number;
  readonly limit: KeyedLimit;
  /** Concurrency and order: the runs that hold it. Rate: the runs that were admitted and have not started. */
  readonly used: number;
  readonly starts: readonly number[];
  /** An ordering key: the failed run for which the runs behind it wait. */
  readonly stoppedBy: string | null;
  /** False: the runs that held it when it was set are not counted yet. */
  readonly isCounted: boolean;
}

/** A waiting run, read after its limits were locked. */
export interface Candidate {
  readonly id: string;
  readonly gate: string;
  readonly rank: number;
  /** The limits that it needs. All are locked. */
  readonly limitIds: readonly number[];
}

export interface Choice {
  readonly admitted: readonly Candidate[];
  /** Gates whose runs go on waiting, and the limits that have no room. */
  readonly waiting: ReadonlyMap<string, readonly number[]>;
  /** The earliest instant at which time alone makes room for one of them. */
  readonly nextAt: Instant | null;
}

interface Room {
  left: number;
  readonly nextAt: Instant | null;
}

/** Goes through the runs in rank order and takes each whose limits all have room. `holders`: the run that holds an ordering key, by limit. */
export function chooseRuns(
  candidates: readonly Candidate[],
  limits: ReadonlyMap<number, LimitState>,
  { now, holders }: { readonly now: Instant; readonly holders: ReadonlyMap<number, string> },
): Choice {
  const rooms = new Map([...limits].map(([id, limit]) => [id, roomOf(limit, now)]));
  const admitted: Candidate[] = [];
  const waiting = new Map<string, readonly number[]>();
  let nextAt: Instant | null = null;
  for (const run of [...candidates].sort((a, b) => a.rank - b.rank || (a.id < b.id ? -1 : 1))) {
    // Runs of one gate do not overtake each other.
    if (waiting.has(run.gate)) continue;
    const needed = run.limitIds.filter((id) => holders.get(id) !== run.id);
    const full = needed.filter((id) => (rooms.get(id)?.left ?? 0) < 1);
    if (full.length === 0) {
      for (const id of needed) take(rooms.get(id));
      admitted.push(run);
      continue;
    }
    waiting.set(run.gate, full);
    const at = timeFor(full, rooms, now);
    if (at !== null) nextAt = Math.min(at, nextAt ?? at);
  }
  return { admitted, waiting, nextAt };
}

function take(room: Room | undefined): void {
  if (room !== undefined) room.left--;
}

/** When time alone makes room for a run; null if it also waits for another run. */
function timeFor(full: readonly number[], rooms: ReadonlyMap<number, Room>, now: Instant): Instant | null {
  let latest = now;
  for (const id of full) {
    const nextAt = rooms.get(id)?.nextAt ?? null;
    if (nextAt === null) return null;
    latest = Math.max(latest, nextAt);
  }
  return latest;
}

export function rateStateOf({ limit, starts, used: unstarted }: LimitState): RateState {
  return { limit: limit.limit, perMs: limit.perMs ?? 1, burst: limit.burst ?? limit.limit, starts, unstarted };
}

function roomOf(state: LimitState, now: Instant): Room {
  const { limit, used, stoppedBy, isCounted } = state;
  if (!isCounted) return { left: 0, nextAt: null };
  if (limit.kind === "rate") {
    const rate = rateStateOf(state);
    return { left: rateRoom(rate, now), nextAt: nextRoomAt(rate, now) };
  }
  return { left: stoppedBy === null ? limit.limit - used : 0, nextAt: null };
}
