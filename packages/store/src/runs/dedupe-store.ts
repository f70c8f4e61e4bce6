import type { Dedupe, DurationMs, Instant } from "@carillon/core";
import { columns } from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statements.js";
import { type EndedRun, type NewRun, type StoredRun, runDeadlines, runParameters } from "./run-store.js";

export interface DedupedRun {
  readonly run: NewRun;
  readonly dedupe: Dedupe;
}

/** held: that run counts for the key. beaten: another enqueuer was faster, try again. */
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
  /** Stores the runs whose key is free or that replace. No key may stand twice among them. */
  insert(runs: readonly DedupedRun[], beyondMs: DurationMs, onEnded?: OnReplaced): Promise<DedupeAnswer[]>;
  /** Removes rows whose run counts no more; reads at most `limit` rows. */
  sweep(limit: number): Promise<Swept>;
}

/** Longer than any enqueue takes; only an application's own transaction holds a key for longer. */
const lockTimeout = "200ms";

interface Row extends Omit<EndedRun, "freedJobId"> {
  readonly state: StoredRun["state"] | "held" | "beaten" | "left" | "ended";
  readonly created_at: Instant;
  readonly held_id: string;
}

export function dedupeStore(db: Queryable, statements: Statements): DedupeStore {
  const insert = statements.get("dedupe.insert");
  const endLeft = statements.get("dedupe.end_left");
  const sweep = statements.get("dedupe.sweep");
  return {
    async insert(runs, beyondMs, onEnded) {
      const rowsOf = runs.map(({ run }) => run);
      const values = [...runParameters(rowsOf), beyondMs, ...keyParameters(runs), lockTimeout, runDeadlines(rowsOf)];
      const { rows } = await db.query<Row>(insert, values);
      const left = rows.filter((row) => row.state === "left");
      if (left.length > 0) await db.query(endLeft, leftParameters(left, rowsOf));
      onEnded?.(rows.filter((row) => row.state === "ended"));
      return rows.flatMap(toAnswer);
    },
    async sweep(limit) {
      const [row = { gone: 0, kept: 0 }] = (await db.query<Swept>(sweep, [limit])).rows;
      return row;
    },
  };
}

function toAnswer({ id, state, created_at: createdAt, held_id: heldId }: Row): DedupeAnswer[] {
  if (state === "left" || state === "ended") return [];
  if (state === "held") return [{ id, state, heldId }];
  return state === "beaten" ? [{ id, state }] : [{ id, state, createdAt }];
}

/** A run is replaced by one of its own namespace. */
function leftParameters(left: readonly Row[], runs: readonly NewRun[]): unknown[] {
  const namespaces = new Map(runs.map((run) => [run.id, run.namespaceId]));
  return columns(left, [(row) => row.held_id, (row) => namespaces.get(row.id) ?? null]);
}

function keyParameters(runs: readonly DedupedRun[]): unknown[] {
  return columns(runs, [({ dedupe }) => dedupe.key, ({ dedupe }) => dedupe.on, ({ dedupe }) => dedupe.windowMs]);
}
