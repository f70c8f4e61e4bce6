import {
  type Instant,
  type JobSpec,
  type LedgerReason,
  type LiveRunStatus,
  ownFiring,
  storedLabels,
} from "@carillon/core";
import { jsonOrNull, jsonParam, namedColumns, timestampOrNull, timestampParam } from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statements.js";
import type { StoredPause } from "./job-transaction-store.js";

/** The columns that every kind of change writes. */
export interface JobTouch {
  readonly id: string;
  readonly expectedVersion: number;
  readonly version: number;
  readonly pause: StoredPause | null;
  readonly endedAt: Instant | null;
}

export interface NewDefinition {
  readonly id: string;
  /** The new version. */
  readonly version: number;
  readonly lane: number;
  readonly spec: JobSpec;
  readonly definedAt: Instant;
}

export interface ReplacedDefinition {
  readonly jobId: string;
  /** Its last version. */
  readonly version: number;
  readonly spec: JobSpec;
  readonly validFrom: Instant;
  readonly validTo: Instant;
  readonly replacedBy: string | null;
}

export interface LedgerRow {
  readonly version: number;
  readonly reason: LedgerReason;
  readonly from_at: Instant;
  readonly to_at: Instant;
  readonly count: number;
  readonly detail: string | null;
}

export type LedgerPlace = Pick<LedgerRow, "from_at" | "version" | "reason">;

/** Writes of a change run in the caller's transaction, with the row of job_due locked. */
export interface JobChangeStore {
  /** Throws if a row differs from the locked one. */
  touch(tx: Queryable, jobs: readonly JobTouch[]): Promise<void>;
  keepVersion(tx: Queryable, replaced: ReplacedDefinition): Promise<void>;
  redefine(tx: Queryable, definition: NewDefinition): Promise<void>;
  /** The definition that was in force as of a version, if it has been replaced since. */
  definitionOf(db: Queryable, jobId: string, version: number): Promise<JobSpec | null>;
  versions(db: Queryable, jobId: string, before: number | null, limit: number): Promise<ReplacedDefinition[]>;
  occurrences(db: Queryable, jobId: string, before: LedgerPlace | null, limit: number): Promise<LedgerRow[]>;
  /** Locks the run as which a one-off job is stored, and moves it to the hot table; null if it has ended or does not exist. */
  holdRun(tx: Queryable, namespaceId: number, id: string): Promise<LiveRunStatus | null>;
  /** false: another transaction was faster. The run must be locked. */
  adoptLive(tx: Queryable, id: string, urgency: number): Promise<boolean>;
  /** false: there is no such run, it was cancelled, or another transaction was faster. */
  adoptEnded(tx: Queryable, ended: EndedOneOff): Promise<boolean>;
}

export interface EndedOneOff {
  readonly id: string;
  readonly notBefore: Instant;
  readonly class: number;
  readonly lane: number;
  readonly shard: number;
}

export function jobChangeStore(statements: Statements): JobChangeStore {
  return { ...changeWrites(statements), ...changeReads(statements), ...adoptions(statements) };
}

type Writes = Pick<JobChangeStore, "touch" | "keepVersion" | "redefine">;

function changeWrites(statements: Statements): Writes {
  const touch = statements.get("job_change.touch");
  const keepVersion = statements.get("job_change.keep_version");
  const redefine = statements.get("job_change.redefine");
  return {
    async touch(tx, jobs) {
      if (jobs.length === 0) return;
      const changed = namedColumns(jobs, {
        ids: (job) => job.id,
        expectedVersions: (job) => job.expectedVersion,
        versions: (job) => job.version,
        pauses: (job) => (job.pause === null ? null : jsonParam(job.pause)),
        endedAt: (job) => timestampOrNull(job.endedAt),
      });
      requireCount(touch.name, (await tx.query(touch, touch.values(changed))).rowCount, jobs.length);
    },
    async keepVersion(tx, { jobId, version, spec, validFrom, validTo, replacedBy }) {
      const values = keepVersion.values({
        jobId,
        version,
        definition: jsonParam(spec),
        validFrom: timestampParam(validFrom),
        validTo: timestampParam(validTo),
        replacedBy,
      });
      const { rowCount } = await tx.query(keepVersion, values);
      requireCount(keepVersion.name, rowCount, 1);
    },
    async redefine(tx, { id, version, lane, spec, definedAt }) {
      const { task, queue, priority, payload, schedule, policy, firing = {}, labels, owner = null } = spec;
      const values = redefine.values({
        id,
        version,
        lane,
        task,
        queue,
        priority,
        payload: jsonParam(payload),
        schedule: jsonParam(schedule),
        policy: jsonOrNull(policy),
        firing: jsonOrNull(ownFiring(firing)),
        labels: jsonParam(storedLabels({ labels, policy, payload })),
        owner,
        definedAt: timestampParam(definedAt),
      });
      const { rowCount } = await tx.query(redefine, values);
      requireCount(redefine.name, rowCount, 1);
    },
  };
}

type Reads = Pick<JobChangeStore, "definitionOf" | "versions" | "occurrences">;

function changeReads(statements: Statements): Reads {
  const definitionOf = statements.get("job_change.definition_as_of");
  const versions = statements.get("job_change.list_versions");
  const occurrences = statements.get("job_change.list_occurrences");
  return {
    async definitionOf(db, jobId, version) {
      const { rows } = await db.query<{ definition: JobSpec }>(definitionOf, definitionOf.values({ jobId, version }));
      return rows[0]?.definition ?? null;
    },
    async versions(db, jobId, before, limit) {
      const values = versions.values({ jobId, beforeVersion: before, limit });
      const { rows } = await db.query<VersionRow>(versions, values);
      return rows.map((row) => toReplaced(jobId, row));
    },
    async occurrences(db, jobId, before, limit) {
      const values = occurrences.values({
        jobId,
        beforeFrom: timestampOrNull(before?.from_at ?? null),
        beforeVersion: before?.version ?? null,
        beforeReason: before?.reason ?? null,
        limit,
      });
      return (await db.query<LedgerRow>(occurrences, values)).rows;
    },
  };
}

type Adoptions = Pick<JobChangeStore, "holdRun" | "adoptLive" | "adoptEnded">;

function adoptions(statements: Statements): Adoptions {
  const lockRun = statements.get("job_change.lock_run");
  const promoteRun = statements.get("job_change.promote_run");
  const adoptLive = statements.get("job_change.adopt_live_run");
  const adoptEnded = statements.get("job_change.adopt_ended_run");
  return {
    async holdRun(tx, namespaceId, id) {
      const lock = async (): Promise<LiveRunStatus | null> =>
        (await tx.query<{ state: LiveRunStatus }>(lockRun, lockRun.values({ namespaceId, id }))).rows[0]?.state ?? null;
      const state = await lock();
      if (state !== null) return state;
      await tx.query(promoteRun, promoteRun.values({ namespaceId, id }));
      return lock();
    },
    async adoptLive(tx, id, urgency) {
      return (await tx.query(adoptLive, adoptLive.values({ id, class: urgency }))).rowCount === 1;
    },
    async adoptEnded(tx, { id, notBefore, class: urgency, lane, shard }) {
      const values = adoptEnded.values({ id, notBefore: timestampParam(notBefore), class: urgency, lane, shard });
      return (await tx.query(adoptEnded, values)).rowCount === 1;
    },
  };
}

interface VersionRow {
  version: number;
  definition: JobSpec;
  valid_from: Instant;
  valid_to: Instant;
  replaced_by: string | null;
}

function toReplaced(jobId: string, row: VersionRow): ReplacedDefinition {
  const { version, definition: spec, valid_from: validFrom, valid_to: validTo, replaced_by: replacedBy } = row;
  return { jobId, version, spec, validFrom, validTo, replacedBy };
}

function requireCount(statement: string, changed: number, wanted: number): void {
  if (changed !== wanted)
    throw new Error(`${statement} changed ${changed} of ${wanted} rows that this transaction holds`);
}
