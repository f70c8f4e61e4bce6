import {
  type CalendarDefinition,
  deadlineOf,
  type Instant,
  type JobSpec,
  occurrenceRunId,
  storedLabels,
} from "@carillon/core";
import { jsonParam, timestampParam } from "../db/params.js";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statement.js";
import type { CalendarEdition } from "../calendars/calendar-store.js";
import { columns, jsonOrNull, timestampOrNull } from "../dispatch/parameters.js";

import {
  type LedgerEntry,
  type MadeJobRun,
  type MadeRow,
  type NewJobRun,
  noteParameters,
  toMadeRun,
} from "../jobs/settlement-writes.js";

/** A definition that has been replaced, in force up to and including `through`. */
export interface PastDefinition {
  readonly version: number;
  readonly spec: JobSpec;
  readonly through: Instant;
}

/** A calendar as it was; `through` is null for the version that is in force. */
export interface PastCalendar extends CalendarEdition {
  readonly name: string;
  readonly definition: CalendarDefinition;
  readonly through: Instant | null;
}

/** What a run of the past is made from. */
export interface RunSource {
  readonly jobId: string;
  readonly version: number;
  readonly lane: number;
  readonly spec: JobSpec;
}

/** What was in force, what ran, and runs made afterwards. Writes have the row of job_due locked. */
export interface PastRuns {
  /** In force right after the instant, if it has been replaced since. The oldest known goes back for ever. */
  definitionAt(db: Queryable, jobId: string, after: Instant): Promise<PastDefinition | null>;
  calendarsAt(db: Queryable, namespaceId: number, names: readonly string[], after: Instant): Promise<PastCalendar[]>;
  /** Those of the instants, in their order, that have a run by the schedule or by a backfill. */
  ran(tx: Queryable, jobId: string, instants: readonly Instant[]): Promise<Set<Instant>>;
  insertRuns(tx: Queryable, runs: readonly NewJobRun[], source: RunSource): Promise<MadeJobRun[]>;
  note(tx: Queryable, entries: readonly LedgerEntry[]): Promise<void>;
}

/** A run's end is recorded by the database's clock, and an instant may be early by a node's. */
const slackMs = 3_600_000;

export function pastRuns(statements: Statements): PastRuns {
  return { ...pastReads(statements), ...pastWrites(statements) };
}

function pastReads(statements: Statements): Pick<PastRuns, "definitionAt" | "calendarsAt" | "ran"> {
  const definitionAt = statements.get("backfill.definition_at");
  const calendarsAt = statements.get("backfill.calendars_at");
  const ran = statements.get("backfill.ran");
  return {
    async definitionAt(db, jobId, after) {
      type Row = { version: number; definition: JobSpec; valid_to: Instant };
      const [row] = (await db.query<Row>(definitionAt, [jobId, timestampParam(after)])).rows;
      return row === undefined ? null : { version: row.version, spec: row.definition, through: row.valid_to };
    },
    async calendarsAt(db, namespaceId, names, after) {
      type Row = Omit<PastCalendar, "through"> & { valid_to: Instant | null };
      const { rows } = await db.query<Row>(calendarsAt, [namespaceId, names, timestampParam(after)]);
      return rows.map(({ valid_to: through, ...calendar }) => ({ ...calendar, through }));
    },
    async ran(tx, jobId, instants) {
      const [first, last] = [instants[0], instants.at(-1)];
      if (first === undefined || last === undefined) return new Set();
      const [places] = columns(instants, [(one) => timestampParam(one)]);
      const ids = instants.map((one) => occurrenceRunId(jobId, one, "schedule"));
      const range = [lowestId(first), lowestId(last + 1), timestampParam(Math.max(0, first - slackMs))];
      const { rows } = await tx.query<{ nominal_at: Instant }>(ran, [jobId, places, ids, ...range]);
      return new Set(rows.map((row) => row.nominal_at));
    },
  };
}

function pastWrites(statements: Statements): Pick<PastRuns, "insertRuns" | "note"> {
  const insertRuns = statements.get("backfill.insert_runs");
  const note = statements.get("backfill.note");
  return {
    async insertRuns(tx, runs, { jobId, version, lane, spec }) {
      if (runs.length === 0) return [];
      const { task, queue, priority, payload, policy, labels, owner = null } = spec;
      const made = columns(runs, [
        (run) => run.id,
        (run) => run.state,
        (run) => run.rank,
        (run) => timestampParam(run.runAt),
        (run) => timestampParam(run.nominal),
        (run) => run.trigger,
        (run) => run.serial,
        (run) => run.untracked,
      ]);
      const what = [
        task,
        queue,
        priority,
        jsonParam(payload),
        jsonOrNull(policy),
        jsonOrNull(storedLabels({ labels, policy, payload })),
        owner,
      ];
      const [deadlines] = columns(runs, [(run) => timestampOrNull(deadlineOf(policy, run.runAt))]);
      const { rows } = await tx.query<MadeRow>(insertRuns, [...made, jobId, version, lane, ...what, deadlines]);
      return rows.map(toMadeRun);
    },
    async note(tx, entries) {
      if (entries.length > 0) await tx.query(note, noteParameters(entries));
    },
  };
}

/** Below every UUIDv7 of this instant. */
export function lowestId(instant: Instant): string {
  const digits = instant.toString(16).padStart(12, "0");
  return `${digits.slice(0, 8)}-${digits.slice(8)}-0000-0000-000000000000`;
}
