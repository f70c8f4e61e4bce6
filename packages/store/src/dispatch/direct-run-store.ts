import type { DurationMs, Instant } from "@carillon/core";
import { namedColumns } from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import type { Notice, RunBatch } from "../runs/run-store.js";
import type { Statements } from "../sql/statements.js";
import { type ClaimedRow, type ClaimedRun, toClaimedRun } from "./complete-and-claim.js";

/** The notices that the statement sends. */
export interface DirectNotices {
  /** To the worker's gateway; null: it is in this process and is notified by a call. */
  readonly toGateway: Notice | null;
  /** To all gateways, if the runs were queued. */
  readonly ifQueued: Notice | null;
}

/** The worker and the lane of a run that was stored for a worker. */
export interface DirectRunPlace {
  readonly id: string;
  readonly sessionId: string;
  readonly lane: number;
  readonly namespaceId: number;
}

export interface DirectRunStore {
  /**
   * Stores a homogeneous batch as claimed by the session that offered slots, or as queued if the offer does not hold any more.
   * `fence`: of these claims; null: the runs were queued.
   */
  insert(
    batch: RunBatch,
    offer: SlotOffer,
    notices: DirectNotices,
  ): Promise<{ readonly at: Instant; readonly fence: number | null }>;
  /** The runs among these that were stored for a session and that it still holds. */
  read(sessionId: string, ids: readonly string[]): Promise<ClaimedRun[]>;
  /** All runs of these lanes that the sessions hold. Reads the lanes' live runs. */
  find(
    lanes: readonly Pick<DirectRunPlace, "lane" | "namespaceId">[],
    sessionIds: readonly string[],
  ): Promise<DirectRunPlace[]>;
}

/** `hot` executes statements that a handler waits for, `db` the others. */
export function directRunStore(db: Queryable, statements: Statements, hot: Queryable = db): DirectRunStore {
  const insert = statements.get("run.insert_direct");
  const read = statements.get("run.read_direct");
  const find = statements.get("run.find_direct");
  return {
    async insert(batch, { sessionId, gatewayId, limitsRevision }, { toGateway, ifQueued }) {
      if (!batch.isHomogeneous) throw new Error("Runs of several kinds cannot be stored for one worker.");
      const params = insert.values({
        ...batch.values,
        sessionId,
        gatewayId,
        limitsRevision,
        gatewayChannel: toGateway?.channel ?? null,
        gatewayNotice: toGateway?.payload ?? null,
        channel: ifQueued?.channel ?? null,
        notice: ifQueued?.payload ?? null,
      });
      type Row = { created_at: Instant; fence: number | null };
      const [row] = (await db.query<Row>(insert, params)).rows;
      if (row === undefined) throw new Error("run.insert_direct returned no row");
      return { at: row.created_at, fence: row.fence };
    },
    async read(sessionId, ids) {
      return (await hot.query<ClaimedRow>(read, read.values({ sessionId, ids }))).rows.map(toClaimedRun);
    },
    async find(lanes, sessionIds) {
      const ofLanes = namedColumns(lanes, { lanes: (one) => one.lane, namespaceIds: (one) => one.namespaceId });
      return (await db.query<DirectRunPlace>(find, find.values({ ...ofLanes, sessionIds }))).rows;
    },
  };
}

/** An offer that is not renewed for so long is not used: its gateway may be gone, and its runs would wait for the rescue. */
export const offerLifetimeMs: DurationMs = 1_000;

/**
 * A gateway with free slots asks a node that stores runs of a lane to store so many of them as runs of its worker. They start without a
 * claim. An offer may be outdated when it is used: the statement that uses it compares session, gateway and limits, and runs that the
 * worker cannot take after all are queued again.
 */
export interface SlotOffer {
  readonly lane: number;
  readonly namespaceId: number;
  /** The gateway to notify of the runs. */
  readonly gatewayId: string;
  readonly sessionId: string;
  /** The revision of limits that the gateway knows. */
  readonly limitsRevision: number;
  /** Unique per gateway. Runs stored under this token start without re-reading the row. */
  readonly token: string;
  /** 0 withdraws the previous offer. */
  readonly count: number;
}

/** Secrets of the cluster, created with the schema. */
export interface SecretStore {
  find(name: "direct_dispatch"): Promise<Buffer>;
}

export function secretStore(db: Queryable, statements: Statements): SecretStore {
  const find = statements.get("secret.find");
  return {
    async find(name) {
      const [row] = (await db.query<{ value: string }>(find, find.values({ name }))).rows;
      if (row === undefined) throw new Error(`The schema has no secret ${name}: was a row of carillon.secret deleted?`);
      return Buffer.from(row.value, "base64");
    },
  };
}
