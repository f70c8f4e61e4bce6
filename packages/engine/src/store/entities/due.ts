import type { Instant } from "@carillon/core";
import type { DueJob, Fired, FireRow, FireStore, LedgerRange, PassRow } from "../../scheduler/fire-store.js";
import { classifyPgError } from "../db/classify.js";
import { jsonParam, timestampParam } from "../db/params.js";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statement.js";
import { DefinitionCache, type DefinitionTexts } from "./definition-cache.js";
import { fenceParameters } from "./fence.js";
import { fireColumns } from "./fire-columns.js";
import { columns, timestampOrNull } from "./parameters.js";

/** The part of the FireStore that concerns jobs whose runs neither wait for one another nor replace one another. */
export type DueStore = Pick<FireStore, "load" | "fire" | "pass" | "hold" | "release" | "park">;

const mostDefinitions = 20_000;

interface JobId {
  job_id: string;
}

/** Jobs of which the same is true: id and shard of each, with commas between them. */
interface LoadedRow extends DefinitionTexts {
  jobs: string;
  class: number;
  state: "active" | "paused";
  version: number;
  next_nominal_at: Instant | null;
  next_fire_at: Instant;
  runs_made: number;
  catch_up_to: Instant | null;
  settled_to: Instant;
}

/** Jobs of which the same is true; their ids with commas between them. */
interface FiredRow {
  job_ids: string;
  outcome: "fired" | "overlap" | "duplicate";
  is_last: boolean;
  lane: number;
  created_at: Instant;
}

export function dueStore(db: Queryable, statements: Statements): DueStore {
  const definitions = new DefinitionCache(mostDefinitions);
  const load = statements.get("due.load");
  const fire = statements.get("due.fire");
  const pass = statements.get("due.pass");
  const hold = statements.get("due.hold");
  const release = statements.get("due.release");
  const park = statements.get("due.park");
  return {
    async load(shards, until, limitPerShard) {
      const { rows } = await db.query<LoadedRow>(load, [shards, timestampParam(until), limitPerShard]);
      return rows.flatMap((row) => dueJobs(row, definitions));
    },
    async fire({ fence, windows }, rows) {
      const columnsOfRows = [...fireColumns(rows), ...noteColumns(rows)];
      const ask = async (looks: boolean): Promise<FiredRow[]> => {
        const values = [...fenceParameters(fence), windows, looks, ...columnsOfRows];
        return (await db.query<FiredRow>(fire, values)).rows;
      };
      // A run of the same id is there only if somebody set the job back: to look for one each time costs as much as a tenth of the fire.
      const answers = await ask(false).catch((error: unknown) => {
        if (classifyPgError(error) !== "unique") throw error;
        return ask(true);
      });
      const byJob = new Map(rows.map((row) => [row.job.jobId, row]));
      return answers.flatMap((answer) => firedJobs(answer, byJob));
    },
    async pass({ fence, windows, asOf }, rows) {
      const values = [
        ...fenceParameters(fence),
        windows,
        timestampOrNull(asOf ?? null),
        ...passColumns(rows),
        ...noteColumns(rows),
      ];
      return idsOf((await db.query<JobId>(pass, values)).rows);
    },
    async hold({ fence, windows, asOf }, rows) {
      const held = columns(rows, [
        (row) => row.job.jobId,
        (row) => row.job.version,
        (row) => timestampParam(row.job.nominal),
        (row) => timestampParam(row.until),
      ]);
      return idsOf(
        (await db.query<JobId>(hold, [...fenceParameters(fence), windows, timestampOrNull(asOf ?? null), ...held]))
          .rows,
      );
    },
    async release({ fence, windows }) {
      const { rows } = await db.query<{ shard: number }>(release, [...fenceParameters(fence), windows]);
      return [...new Set(rows.map((row) => row.shard))];
    },
    async park(fence, rows) {
      const parked = columns(rows, [(row) => row.job.jobId, (row) => row.job.version, (row) => jsonParam(row.pause)]);
      return idsOf((await db.query<JobId>(park, [...fenceParameters(fence), ...parked])).rows);
    },
  };
}

function idsOf(rows: readonly JobId[]): string[] {
  return rows.map((row) => row.job_id);
}

function passColumns(rows: readonly PassRow[]): unknown[] {
  return columns(rows, [
    (row) => row.job.jobId,
    (row) => row.job.version,
    (row) => timestampParam(row.job.nominal),
    (row) => timestampOrNull(row.next?.nominal ?? null),
    (row) => timestampOrNull(row.next?.fireAt ?? null),
    (row) => timestampOrNull(row.catchUpTo),
    (row) => timestampParam(row.range.to),
    (row) => row.range.count,
    (row) => row.range.reason,
    (row) => row.range.detail,
  ]);
}

function noteColumns(rows: readonly { readonly job: DueJob; readonly notes: readonly LedgerRange[] }[]): unknown[] {
  const notes = rows.flatMap(({ job, notes: ranges }) => {
    const { jobId, version, definition } = job;
    return ranges.map((range) => ({ jobId, version, namespaceId: definition.namespaceId, ...range }));
  });
  return columns(notes, [
    (note) => note.jobId,
    (note) => note.namespaceId,
    (note) => note.version,
    (note) => note.reason,
    (note) => timestampParam(note.from),
    (note) => timestampParam(note.to),
    (note) => note.count,
    (note) => note.detail,
  ]);
}

const uuidLength = 36;

function dueJobs(row: LoadedRow, definitions: DefinitionCache): DueJob[] {
  const definition = definitions.of(row);
  return row.jobs.split(",").map((job) => ({
    jobId: job.slice(0, uuidLength),
    shard: Number(job.slice(uuidLength)),
    class: row.class,
    state: row.state,
    version: row.version,
    nominal: row.next_nominal_at ?? row.next_fire_at,
    fireAt: row.next_fire_at,
    settledTo: row.settled_to,
    catchUpTo: row.catch_up_to,
    runsMade: row.runs_made,
    definition,
  }));
}

function firedJobs(answer: FiredRow, byJob: ReadonlyMap<string, FireRow>): Fired[] {
  const { outcome, is_last: isLast, lane, created_at: createdAt } = answer;
  const isFired = outcome === "fired";
  return answer.job_ids.split(",").map((jobId) => {
    const row = byJob.get(jobId);
    if (row === undefined) throw new Error(`job ${jobId} was fired and was not asked for`);
    const run = isFired ? { id: row.runId, lane, rank: row.rank, createdAt } : null;
    return { jobId, outcome, run, isLast, runsMade: row.job.runsMade + (isFired ? 1 : 0) };
  });
}
