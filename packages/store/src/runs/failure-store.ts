import type { Instant } from "@carillon/core";
import { namedColumns, timestampOrNull, timestampParam } from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import { type HistoryDays, type ListPart, type Stretch, maxDaysAtOnce, walkDays } from "../history/history-days.js";
import type { Statements } from "../sql/statements.js";
import type { RunRow } from "./run-reads.js";

export interface NewRedrive {
  readonly runId: string;
  readonly namespaceId: number;
  readonly kind: "retry" | "replay";
  readonly newRunId: string;
  readonly actor: string | null;
}

/** Errors of one kind and one task that a node has seen. */
export interface SeenErrors {
  readonly namespaceId: number;
  readonly fingerprint: string;
  readonly type: string;
  readonly message: string;
  readonly task: string;
  readonly count: number;
  readonly firstAt: Instant;
  readonly lastAt: Instant;
  readonly runId: string;
}

export interface GroupPlace {
  readonly seenAt: Instant;
  readonly fingerprint: string;
}

export interface FailureStore {
  deadLetters(namespaceId: number, filter: DeadLetterFilter, before: string | null, limit: number): Promise<RunRow[]>;
  redriven(db: Queryable, namespaceId: number, ids: readonly string[]): Promise<(RedriveView & { of: string })[]>;
  /** False: the run has a retry already. */
  redrive(tx: Queryable, redrive: NewRedrive): Promise<boolean>;
  /** Returns those that were neither retried nor discarded before. */
  discard(namespaceId: number, ids: readonly string[], actor: string | null): Promise<string[]>;
  count(seen: readonly SeenErrors[]): Promise<void>;
  groups(namespaceId: number, task: string | null, before: GroupPlace | null, limit: number): Promise<ErrorGroupView[]>;
  group(namespaceId: number, fingerprint: string): Promise<ErrorGroupView | null>;
}

export function failureStore(db: Queryable, statements: Statements, days: HistoryDays): FailureStore {
  return { ...letters(db, statements, days), ...errorGroups(db, statements) };
}

type Letters = Pick<FailureStore, "deadLetters" | "redriven" | "redrive" | "discard">;

function letters(db: Queryable, statements: Statements, days: HistoryDays): Letters {
  const list = statements.get("failure.list");
  const redriven = statements.get("failure.redriven");
  const redrive = statements.get("failure.redrive");
  const discard = statements.get("failure.discard");
  return {
    async deadLetters(namespaceId, filter, before, limit) {
      const { task = null, queue = null, jobId = null, fingerprint = null } = filter;
      const { failedFrom = 0, failedBefore = Infinity } = filter;
      const place = { after: before, limit, direction: "newest_first" } as const;
      const filterValues = { namespaceId, before, limit, task, queue, jobId, fingerprint };
      const scan = async (stretch: Stretch): Promise<ListPart<RunRow>> => {
        const [from, end] = [Math.max(stretch.from, failedFrom), Math.min(stretch.before, failedBefore)];
        if (from >= end) return { rows: [], edge: null };
        const times = { failedFrom: timestampParam(from), failedBefore: timestampParam(end) };
        const values = list.values({ ...filterValues, ...times, until: stretch.until });
        const { rows } = await db.query<RunRow>(list, values);
        return { rows, edge: rows.length < limit ? null : (rows.at(-1)?.id ?? null) };
      };
      const walk = { place, maxDays: maxDaysAtOnce, scan, isLate: () => false };
      return [...(await walkDays(await days.for(place, failedFrom), walk)).rows];
    },
    async redriven(on, namespaceId, ids) {
      type Row = Pick<RedriveView, "kind" | "actor"> & {
        run_id: string;
        new_run_id: string | null;
        created_at: Instant;
      };
      const { rows } = await on.query<Row>(redriven, redriven.values({ namespaceId, runIds: ids }));
      return rows.map((row) => {
        return { of: row.run_id, kind: row.kind, runId: row.new_run_id, actor: row.actor, at: row.created_at };
      });
    },
    async redrive(tx, made) {
      return (await tx.query(redrive, redrive.values(made))).rowCount === 1;
    },
    async discard(namespaceId, ids, actor) {
      const values = discard.values({ runIds: ids, namespaceId, actor });
      const { rows } = await db.query<{ run_id: string }>(discard, values);
      return rows.map((row) => row.run_id);
    },
  };
}

type Groups = Pick<FailureStore, "count" | "groups" | "group">;

interface GroupRow {
  readonly fingerprint: string;
  readonly type: string;
  readonly message: string;
  readonly tasks: readonly string[];
  readonly count: number;
  readonly first_seen_at: Instant;
  readonly last_seen_at: Instant;
  readonly sample_run_id: string;
}

function errorGroups(db: Queryable, statements: Statements): Groups {
  const count = statements.get("failure.count");
  const groups = statements.get("failure.groups");
  const group = statements.get("failure.group");
  return {
    async count(seen) {
      const ofGroups = namedColumns(seen, {
        namespaceIds: (one) => one.namespaceId,
        fingerprints: (one) => one.fingerprint,
        types: (one) => one.type,
        messages: (one) => one.message,
        tasks: (one) => one.task,
        counts: (one) => one.count,
        firstTimes: (one) => timestampParam(one.firstAt),
        lastTimes: (one) => timestampParam(one.lastAt),
        runIds: (one) => one.runId,
      });
      await db.query(count, count.values(ofGroups));
    },
    async groups(namespaceId, task, before, limit) {
      const place = {
        seenBefore: timestampOrNull(before?.seenAt ?? null),
        beforeFingerprint: before?.fingerprint ?? null,
      };
      const values = groups.values({ namespaceId, ...place, limit, task });
      return (await db.query<GroupRow>(groups, values)).rows.map(toGroup);
    },
    async group(namespaceId, fingerprint) {
      const [row] = (await db.query<GroupRow>(group, group.values({ namespaceId, fingerprint }))).rows;
      return row === undefined ? null : toGroup(row);
    },
  };
}

function toGroup(row: GroupRow): ErrorGroupView {
  const { fingerprint, type, message, tasks, count } = row;
  const seen = { firstSeenAt: row.first_seen_at, lastSeenAt: row.last_seen_at, sampleRunId: row.sample_run_id };
  return { fingerprint, type, message, tasks: [...tasks].sort(), count, ...seen };
}

export interface DeadLetterFilter {
  readonly task?: string;
  readonly queue?: string;
  readonly jobId?: string;
  readonly fingerprint?: string;
  readonly failedFrom?: Instant;
  readonly failedBefore?: Instant;
}

/** A retry, replay or discard of a run that had ended. */
export interface RedriveView {
  readonly kind: "retry" | "replay" | "discard";
  /** The new run; null for a discard. */
  readonly runId: string | null;
  readonly actor: string | null;
  readonly at: Instant;
}

export interface ErrorGroupView {
  readonly fingerprint: string;
  readonly type: string;
  readonly message: string;
  readonly tasks: readonly string[];
  readonly count: number;
  readonly firstSeenAt: Instant;
  readonly lastSeenAt: Instant;
  readonly sampleRunId: string;
}
