import type { Dedupe, DurationMs, Instant } from "@carillon/core";
import { namedColumns } from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statements.js";
import { type EndedRun, type NewRun, type StoredRun, newRunColumns } from "./run-store.js";

export interface DedupedRun {
  readonly run: NewRun;
  readonly dedupe: Dedupe;
}

/** held: the run `heldId` holds the key. beaten: another enqueuer was faster, try again. */
export type DedupeAnswer =
  | StoredRun
  | { readonly id: string; readonly state: "held"; readonly heldId: string }
  | { readonly id: string; readonly state: "beaten" };

export interface Swept {
  readonly gone: number;
  readonly kept: number;
}

/** Called with the waiting runs that were replaced. */
export type OnReplaced = (runs: readonly Omit<EndedRun, "freedJobId">[]) => void;

export interface DedupeStore {
  /** Stores the runs whose key is free or that replace. No key may occur twice among them. */
  insert(runs: readonly DedupedRun[], beyondMs: DurationMs, onEnded?: OnReplaced): Promise<DedupeAnswer[]>;
  /** Removes rows whose run holds its key no longer; reads at most `limit` rows. */
  sweep(limit: number): Promise<Swept>;
}

/** Longer than any enqueue takes; only an application's own transaction holds a key for longer. */
const lockTimeout = "200ms";

interface Row extends Omit<EndedRun, "freedJobId"> {
  readonly state: StoredRun["state"] | "held" | "beaten" | "not_ended" | "ended";
  readonly created_at: Instant;
  readonly holder_id: string;
}

export function dedupeStore(db: Queryable, statements: Statements): DedupeStore {
  const insert = statements.get("dedupe.insert");
  const endReplaced = statements.get("dedupe.end_replaced");
  const sweep = statements.get("dedupe.sweep");
  return {
    async insert(runs, beyondMs, onEnded) {
      const newRuns = runs.map(({ run }) => run);
      const keys = namedColumns(runs, {
        keys: ({ dedupe }) => dedupe.key,
        actions: ({ dedupe }) => dedupe.on,
        windowsMs: ({ dedupe }) => dedupe.windowMs,
      });
      const values = insert.values({ ...newRunColumns(newRuns), horizonMs: beyondMs, ...keys, lockTimeout });
      const { rows } = await db.query<Row>(insert, values);
      const notEnded = rows.filter((row) => row.state === "not_ended");
      if (notEnded.length > 0) await db.query(endReplaced, endReplaced.values(replacedColumns(notEnded, newRuns)));
      onEnded?.(rows.filter((row) => row.state === "ended"));
      return rows.flatMap(toAnswer);
    },
    async sweep(limit) {
      const [row = { gone: 0, kept: 0 }] = (await db.query<Swept>(sweep, sweep.values({ limit }))).rows;
      return row;
    },
  };
}

function toAnswer({ id, state, created_at: createdAt, holder_id: heldId }: Row): DedupeAnswer[] {
  if (state === "not_ended" || state === "ended") return [];
  if (state === "held") return [{ id, state, heldId }];
  return state === "beaten" ? [{ id, state }] : [{ id, state, createdAt }];
}

/** A run is replaced by one of its own namespace. */
function replacedColumns(rows: readonly Row[], runs: readonly NewRun[]) {
  const namespaces = new Map(runs.map((run) => [run.id, run.namespaceId]));
  return namedColumns(rows, { ids: (row) => row.holder_id, namespaceIds: (row) => namespaces.get(row.id) ?? null });
}
