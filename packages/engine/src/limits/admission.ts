import type { Instant, KeyedLimit } from "@carillon/core";
import {
  type EndedRun,
  type Held,
  type LaneCursor,
  type LimitAdmissions,
  type LimitRow,
  type NamedLimit,
  type OrderHolder,
  type OwnLimits,
  type Queryable,
  type Queued,
  type ReleasedHold,
  type Store,
  type WaitingHead,
  ownLimitsOf,
} from "@carillon/store";
import { type Candidate, type Choice, chooseRuns } from "./choose-runs.js";
import { gateOf, isOrdered, limitsIn } from "./limit-text.js";
import { startsSince, withStarts } from "./rate-window.js";

/** The gates and limits of one admission. */
export interface AdmissionRequest {
  /** Gates whose first run is read before anything is locked, because the limits that it needs are not known. */
  readonly gates: readonly string[];
  /** Gates of runs that held `limitIds`: the next run behind them needs the same limits, unless their definition changed. */
  readonly refilled?: readonly string[];
  /** Limits whose holders are read even if no run waits for them. */
  readonly limitIds: readonly number[];
  /** Limits to lock beside those of the first runs. */
  readonly named?: readonly NamedLimit[];
  /** Runs that may have ceased to hold their limits; null: every holder is checked. */
  readonly released: readonly string[] | null;
}

export interface Admitted {
  readonly queued: readonly Queued[];
  /** Gates behind which more runs may be admissible at once. */
  readonly more: readonly string[];
  /** Gates whose runs go on waiting, and the limits that have no room. */
  readonly waiting: Choice["waiting"];
  readonly nextAt: Instant | null;
  /** Limits that a run ceased to hold. */
  readonly freed: readonly number[];
  /** Runs that were cancelled because a run before them failed. */
  readonly stopped: readonly EndedRun[];
  /** Limits that runs need and that were not locked. */
  readonly unlocked: readonly NamedLimit[];
  /** Limits that have no room until the runs that were at work when they were set are counted. */
  readonly uncounted: readonly LimitRow[];
}

/** Runs of one gate that one transaction reads. */
const maxOfGate = 100;

interface Needed {
  readonly head: WaitingHead;
  readonly limits: readonly NamedLimit[];
}

/**
 * One short transaction: locks the rows of the limits in one order, and only then reads, in later statements, which runs hold them and
 * which wait. Two admissions that need the same limit follow each other; others do not meet. The rows of queues and namespaces are locked last, as
 * by a change of their limits.
 */
export async function admit(tx: Queryable, store: LimitAdmissions, request: AdmissionRequest): Promise<Admitted> {
  const { limitIds, released: runIds } = request;
  const before = (await store.first(tx, request.gates)).map(neededBy);
  const wanted = distinct([...before.flatMap((one) => one.limits), ...(request.named ?? [])]);
  await store.define(tx, wanted);
  const { rows, now } = await store.lock(tx, wanted, limitIds);
  const { over: released, holders: held } = await store.release(tx, heldBy(rows, runIds));
  const limits = await judge(tx, store, rows, { released, now });
  const stopped = await store.stop(tx, stoppedGates(limits, released));
  const gates = [...new Set([...request.gates, ...(request.refilled ?? [])])];
  const heads = await candidates(tx, store, gates, held);
  const holders = new Map(held.map(({ limitId, runId }) => [limitId, runId]));
  const needed = heads.filter((head) => !head.isPaused).map(neededBy);
  const ids = new Map(rows.map((row) => [nameOf(row), row.id]));
  for (const one of needed) redefine(limits, ids, one);
  const known = needed.filter((one) => one.limits.every((limit) => ids.has(nameOf(limit))));
  const choices = known.map(({ head, limits: own }): Candidate => {
    const needs = own.flatMap((limit) => ids.get(nameOf(limit)) ?? []);
    return { id: head.id, gate: gateOf(head.limits), rank: head.rank, limitIds: needs };
  });
  const choice = chooseRuns(choices, limits, { now, holders });
  const queued = await write(tx, store, { choice, limits, heads, isSwept: runIds === null });
  const freed = [...new Set(released.map((hold) => hold.limitId))];
  const unlocked = needed.filter((one) => !known.includes(one)).flatMap((one) => one.limits);
  const uncounted = rows.filter((row) => !row.isCounted);
  return { ...choice, queued, more: gatesWithMore(heads, choice), freed, stopped, unlocked, uncounted };
}

/** All holders of ordering keys are read: of these it must be known which run holds them. */
function heldBy(rows: readonly LimitRow[], runIds: readonly string[] | null): Held {
  const whole = runIds === null ? rows : rows.filter((row) => row.limit.kind === "order");
  return { limitIds: idsOf(rows), runIds: runIds ?? [], whole: idsOf(whole) };
}

const idsOf = (rows: readonly LimitRow[]): number[] => rows.map((row) => row.id);

function write(
  tx: Queryable,
  store: LimitAdmissions,
  done: {
    readonly choice: Choice;
    readonly limits: ReadonlyMap<number, LimitRow>;
    readonly heads: readonly WaitingHead[];
    readonly isSwept: boolean;
  },
): Promise<Queued[]> {
  const { choice, limits, heads, isSwept } = done;
  if (limits.size === 0 && choice.admitted.length === 0) return Promise.resolve([]);
  const fences = new Map(heads.map((head) => [head.id, head.fence]));
  const fenceOf = (id: string): number => fences.get(id) ?? 0;
  return store.admit(tx, {
    runs: choice.admitted.map(({ id }) => ({ id, fence: fenceOf(id) })),
    holds: choice.admitted.flatMap(({ id, gate, limitIds }) =>
      limitIds.map((limitId) => {
        const isOrder = limits.get(limitId)?.limit.kind === "order";
        return { limitId, runId: id, fence: isOrder ? 0 : fenceOf(id), gate };
      }),
    ),
    limits: [...limits.values()],
    isSwept,
  });
}

/** The limits after the releases: room, starts to remember, and failures that stop an ordering key. */
async function judge(
  tx: Queryable,
  store: LimitAdmissions,
  rows: readonly LimitRow[],
  { released, now }: { readonly released: readonly ReleasedHold[]; readonly now: Instant },
): Promise<Map<number, LimitRow>> {
  const disposed = await store.disposed(
    tx,
    rows.flatMap((row) => row.stoppedBy ?? []),
  );
  const byLimit = new Map<number, ReleasedHold[]>();
  for (const hold of released) byLimit.set(hold.limitId, [...(byLimit.get(hold.limitId) ?? []), hold]);
  return new Map(
    rows.map((row) => {
      const over = byLimit.get(row.id) ?? [];
      const stoppedBy = row.stoppedBy !== null && disposed.has(row.stoppedBy) ? null : row.stoppedBy;
      return [row.id, after({ ...row, stoppedBy, used: row.used - over.length }, over, now)];
    }),
  );
}

function after(row: LimitRow, over: readonly ReleasedHold[], now: Instant): LimitRow {
  const { kind, perMs, onFailure } = row.limit;
  if (kind === "rate") {
    const per = perMs ?? 0;
    const begun = over.flatMap((hold) => hold.startedAt ?? []);
    return { ...row, starts: withStarts(startsSince(row.starts, now - per), begun, per) };
  }
  const failed = over.find((hold) => hold.hasFailed)?.runId;
  return kind === "order" && onFailure === "block" && failed !== undefined ? { ...row, stoppedBy: failed } : row;
}

function stoppedGates(limits: ReadonlyMap<number, LimitRow>, released: readonly ReleasedHold[]): string[] {
  const stops = released.filter(({ hasFailed, limitId }) => {
    const limit = limits.get(limitId)?.limit;
    return hasFailed && limit?.kind === "order" && limit.onFailure === "stop";
  });
  return [...new Set(stops.map((hold) => hold.gate))];
}

/** The waiting runs, read under the locks. Behind an ordering key whose holder waits to be admitted again, only the holder may start. */
async function candidates(
  tx: Queryable,
  store: LimitAdmissions,
  gates: readonly string[],
  held: readonly OrderHolder[],
): Promise<WaitingHead[]> {
  const waits = held.filter((holder) => holder.waits).map((holder) => holder.limitId);
  const again = await store.holders(tx, waits);
  const taken = new Set(again.map((head) => gateOf(head.limits)));
  const first = await store.heads(
    tx,
    gates.filter((gate) => !taken.has(gate)),
    maxOfGate,
  );
  return [...again, ...first];
}

/** The newest run that names a limit defines it, unless an operator fixed it. The limits of queues and namespaces are defined by their rows. */
function redefine(limits: Map<number, LimitRow>, ids: ReadonlyMap<string, number>, { limits: named }: Needed): void {
  for (const { namespaceId, limit, definedAt } of named) {
    const row = limits.get(ids.get(nameOf({ namespaceId, limit })) ?? -1);
    if (row === undefined || row.isFixed) continue;
    const isOwn = limit.scope === "queue" || limit.scope === "namespace";
    if (!isOwn && definedAt <= row.definedAt) continue;
    limits.set(row.id, { ...row, limit, definedAt });
  }
}

function neededBy(head: WaitingHead): Needed {
  const { namespaceId, queue, limits, createdAt: definedAt, queueLimits, namespaceLimits } = head;
  const all: KeyedLimit[] = [
    ...limitsIn(limits),
    ...ownOf(queueLimits, "queue", queue),
    ...ownOf(namespaceLimits, "namespace", ""),
  ];
  return { head, limits: all.map((limit) => ({ namespaceId, limit, definedAt })) };
}

function ownOf(limits: OwnLimits | null, scope: "queue" | "namespace", name: string): KeyedLimit[] {
  return limits === null ? [] : ownLimitsOf(limits, scope, name);
}

function nameOf({ namespaceId, limit }: Pick<NamedLimit, "namespaceId" | "limit">): string {
  return `${namespaceId}\n${limit.scope}\n${limit.kind}\n${limit.name}`;
}

function distinct(limits: readonly NamedLimit[]): NamedLimit[] {
  return [...new Map(limits.map((limit) => [nameOf(limit), limit])).values()];
}

/** Gates of which as many runs were read as one transaction reads. Ordering keys admit one run at a time. */
function gatesWithMore(heads: readonly WaitingHead[], { waiting }: Choice): string[] {
  const counts = new Map<string, number>();
  for (const { limits } of heads) counts.set(gateOf(limits), (counts.get(gateOf(limits)) ?? 0) + 1);
  return [...counts].flatMap(([gate, count]) =>
    !waiting.has(gate) && count >= maxOfGate && !isOrdered(gate) ? [gate] : [],
  );
}

/** Lanes of one statement, and runs of each. */
const countPage = { lanes: 200, ofEach: 20_000 };

/**
 * Makes the runs that were admitted or running when a limit of a queue or a namespace was set hold it. No run starts from then on
 * without holding it, so these only become fewer and can be read page by page.
 */
export async function countHolders(
  limit: LimitRow,
  { limits, settle }: Pick<Store, "limits" | "settle">,
): Promise<void> {
  const runIds: string[] = [];
  let at: LaneCursor | null = { lane: 0, rank: Number.MIN_SAFE_INTEGER };
  while (at !== null) {
    const seen = await limits.atWork(limit, at, countPage);
    const full = seen.findIndex((lane) => lane.seen >= countPage.ofEach);
    const read = full === -1 ? seen : seen.slice(0, full + 1);
    for (const lane of read) runIds.push(...lane.runIds);
    const last = read.at(-1);
    if (last === undefined || (full === -1 && seen.length < countPage.lanes)) at = null;
    else
      at = full === -1 ? { lane: last.lane + 1, rank: Number.MIN_SAFE_INTEGER } : { lane: last.lane, rank: last.rank };
  }
  await settle(async (tx) => {
    await limits.lock(tx, [], [limit.id]);
    await limits.count(tx, limit, runIds);
  });
}
