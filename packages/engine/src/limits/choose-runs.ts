import type { Instant, KeyedLimit } from "@carillon/core";
import { nextRoomAt, rateRoom, type RateState } from "./rate-window.js";

/** A limit's row, locked. */
export interface LimitState {
  readonly id: number;
  readonly limit: KeyedLimit;
  /** Runs that hold it: concurrency and order; admitted and not started: rate. */
  readonly used: number;
  readonly starts: readonly number[];
  /** An ordering key: the failed run that everything behind it waits for. */
  readonly stoppedBy: string | null;
  /** False: it is not known yet who held it when it was set. */
  readonly isCounted: boolean;
}

/** A run that waits, as it was read after its limits were locked. */
export interface Candidate {
  readonly id: string;
  readonly gate: string;
  readonly rank: number;
  /** The limits that it needs, all of which are locked. */
  readonly limitIds: readonly number[];
}

export interface Choice {
  readonly admitted: readonly Candidate[];
  /** Gates with runs that must wait on, and the limits that have no room. */
  readonly waiting: ReadonlyMap<string, readonly number[]>;
  /** When time alone makes room for one of them. */
  readonly nextAt: Instant | null;
}

interface Room {
  left: number;
  readonly nextAt: Instant | null;
}

/** Goes through the runs in rank order and takes each whose limits all have room. `holders`: who holds an ordering key, by limit. */
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
    // Behind one gate nothing overtakes.
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

/** null unless time is all that a run waits for. */
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
