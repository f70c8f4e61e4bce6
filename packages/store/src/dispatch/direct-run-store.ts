import type { DurationMs, Instant } from "@carillon/core";
import { columns } from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import type { AlikeRuns, Notice } from "../runs/run-store.js";
import type { Statements } from "../sql/statements.js";
import { type ClaimedRow, type ClaimedRun, toClaimedRun } from "./complete-and-claim.js";

/** What is told of runs that are stored for a worker. */
export interface HandedNotices {
  /** To the worker's gateway; null: it is told otherwise. */
  readonly handed: Notice | null;
  /** To everybody, if the worker did not get them. */
  readonly queued: Notice | null;
}

/** Where a run is that was stored for a worker. */
export interface HandedPlace {
  readonly id: string;
  readonly sessionId: string;
  readonly lane: number;
  readonly namespaceId: number;
}

export interface HandedRunStore {
  /** Stores runs of one kind as claimed by who offered to take them, or as queued if the offer does not hold any more. */
  insert(
    runs: AlikeRuns,
    offer: Offer,
    notices: HandedNotices,
  ): Promise<{ readonly at: Instant; readonly isHanded: boolean }>;
  /** Those of the runs that were stored for a session and that it still holds. */
  read(sessionId: string, ids: readonly string[]): Promise<ClaimedRun[]>;
  /** All of these lanes that sessions hold. Reads the lanes' live runs. */
  find(
    lanes: readonly Pick<HandedPlace, "lane" | "namespaceId">[],
    sessionIds: readonly string[],
  ): Promise<HandedPlace[]>;
}

/** `hot` takes what a handler waits for, `db` the rest. */
export function handedRunStore(db: Queryable, statements: Statements, hot: Queryable = db): HandedRunStore {
  const insert = statements.get("run.insert_handed");
  const read = statements.get("run.handed");
  const find = statements.get("run.handed_of_lanes");
  return {
    async insert({ isOneKind, values }, { sessionId, gatewayId, limitsRevision }, { handed, queued }) {
      if (!isOneKind) throw new Error("runs of several kinds were to be handed to one worker");
      const taker = [sessionId, gatewayId, limitsRevision];
      const told = [handed?.channel ?? null, handed?.payload ?? null, queued?.channel ?? null, queued?.payload ?? null];
      type Row = { created_at: Instant; handed: boolean };
      const [row] = (await db.query<Row>(insert, [...values, ...taker, ...told])).rows;
      if (row === undefined) throw new Error("runs were to be stored and no answer came");
      return { at: row.created_at, isHanded: row.handed };
    },
    async read(sessionId, ids) {
      return (await hot.query<ClaimedRow>(read, [sessionId, ids])).rows.map(toClaimedRun);
    },
    async find(lanes, sessionIds) {
      const values = [...columns(lanes, [(one) => one.lane, (one) => one.namespaceId]), sessionIds];
      return (await db.query<HandedPlace>(find, values)).rows;
    },
  };
}

/** An offer that is not renewed for so long is not used: its gateway may be gone, and what it is handed would wait for the rescue. */
export const offerMs: DurationMs = 1_000;

/**
 * A worker with free slots says to whoever stores runs of a lane: store so many of them as mine. They start without a claim. An offer may be wrong by the
 * time that it is used; the statement that uses it compares what must hold, and what the worker cannot take after all is queued again.
 */
export interface Offer {
  readonly lane: number;
  readonly namespaceId: number;
  /** Where the runs are told of. */
  readonly gatewayId: string;
  readonly sessionId: string;
  /** Of the limits that the gateway goes by. */
  readonly limitsRevision: number;
  /** Names this offer among all of the gateway: what comes by it is begun unread. */
  readonly token: string;
  /** None: what was offered before is taken back. */
  readonly count: number;
}
