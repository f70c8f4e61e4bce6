import { bigintArray, float8Array, intArray, uuidArray } from "../db/binary-arrays.js";
import { storableJson } from "../db/params.js";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statement.js";
import { type ClaimedRun, type FinishedRun, type UsualRow, usualRun } from "./claimed-run.js";
import { inLockOrder } from "./lock-order.js";
import { columns } from "./parameters.js";

/** From where on, and how many runs at most, a claim looks at of one lane of one namespace. */
export interface LaneRead {
  readonly lane: number;
  readonly namespaceId: number;
  readonly low: number;
  readonly most: number;
  readonly isSolo: boolean;
}

/** Who waits for runs. `places` are indexes into `sessions`, in the order in which they are filled; free slots come first. */
export interface Demand {
  /** Who claims: a session that another gateway serves gets nothing. */
  readonly gatewayId: string;
  readonly sessions: readonly string[];
  readonly places: readonly number[];
  /** How many of the places are slots that are free at once. */
  readonly free: number;
  readonly reads: readonly LaneRead[];
  /** Of the limits of queues and namespaces that the reads go by; left out: of none. */
  readonly limitsRevision?: number;
  /** Most of each namespace, if the reads are of several. */
  readonly quotas?: ReadonlyMap<number, number> | null;
}

export interface Exchange {
  /** Runs that succeeded. */
  readonly succeeded: readonly FinishedRun[];
  readonly demand: Demand | null;
}

export interface Exchanged {
  /** In rank order. */
  readonly claimed: readonly ClaimedRun[];
  /** The ids that were accepted; null: all of them. */
  readonly accepted: ReadonlySet<string> | null;
  /** Jobs of which another run may start now. */
  readonly freedJobs: readonly string[];
}

/** What became of those that succeeded stands in the last row alone, behind the columns of a run. */
type ExchangeRow = readonly [
  ...run: UsualRow,
  ended: number | null,
  endedIds: readonly string[] | null,
  freedJobIds: readonly string[] | null,
];

const nobody: Omit<Demand, "gatewayId"> & { gatewayId: null } = {
  gatewayId: null,
  sessions: [],
  places: [],
  free: 0,
  reads: [],
};

export function exchangeOver(db: Queryable, statements: Statements): (exchange: Exchange) => Promise<Exchanged> {
  const plain = { ...statements.get("run.exchange"), rowMode: "array" } as const;
  const shared = { ...statements.get("run.exchange_shared"), rowMode: "array" } as const;
  return async ({ succeeded, demand }) => {
    const values = [...succeededParameters(succeeded), ...demandParameters(demand ?? nobody)];
    const quotas = demand?.quotas ?? null;
    const { rows } = await (quotas === null
      ? db.query<ExchangeRow>(plain, values)
      : db.query<ExchangeRow>(shared, [...values, demand?.reads.map((read) => quotas.get(read.namespaceId) ?? 0)]));
    const claimed: ClaimedRun[] = [];
    let last: ExchangeRow | null = null;
    for (const row of rows) {
      if (row[18] === null) claimed.push(usualRun(row, demand?.sessions ?? []));
      else last = row;
    }
    if (last === null) throw new Error("an exchange was not answered in full");
    const { 18: ended, 19: endedIds, 20: freedJobIds } = last;
    claimed.sort((a, b) => a.rank - b.rank);
    const accepted = endedIds === null && ended === succeeded.length ? null : new Set(endedIds);
    return { claimed, accepted, freedJobs: freedJobIds ?? [] };
  };
}

function succeededParameters(runs: readonly FinishedRun[]): unknown[] {
  const ordered = inLockOrder(runs);
  return [
    uuidArray(ordered.map((run) => run.id)),
    bigintArray(ordered.map((run) => run.fence)),
    uuidArray(ordered.map((run) => run.session)),
    ...columns(ordered, [(run) => storableJson(run.output)]),
    float8Array(ordered.map((run) => run.startedAt)),
  ];
}

function demandParameters(demand: Demand | typeof nobody): unknown[] {
  const { gatewayId, sessions, places, free, reads, limitsRevision = 0 } = demand;
  return [
    uuidArray(sessions),
    intArray(places.map((place) => place + 1)),
    free,
    ...columns(reads, [
      (read) => read.lane,
      (read) => read.namespaceId,
      (read) => read.low,
      (read) => read.most,
      (read) => read.isSolo,
    ]),
    gatewayId,
    limitsRevision,
  ];
}
