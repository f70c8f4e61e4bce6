import type { Queryable } from "../db/queryable.js";
import { shardArray } from "../db/shard-array.js";
import type { Statements } from "../sql/statement.js";
import type { CalendarEdition } from "./calendar-store.js";
import { columns } from "../dispatch/parameters.js";

/** A job and the edition of a calendar with which its next time was computed. */
export interface CalendarLink extends CalendarEdition {
  readonly jobId: string;
  readonly shard: number;
}

/** The same for a job that is stored, with what the calendar is now. */
export interface SeenCalendar {
  readonly jobId: string;
  readonly calendarId: number;
  readonly name: string;
  readonly seenVersion: number;
  readonly version: number;
}

/** Which jobs follow which calendars. Writes run in the caller's transaction. */
export interface CalendarLinks {
  /** Keeps calendars from being deleted until the transaction is over; answers those that exist. */
  pin(tx: Queryable, ids: readonly number[]): Promise<Set<number>>;
  link(tx: Queryable, links: readonly CalendarLink[]): Promise<void>;
  unlink(tx: Queryable, jobIds: readonly string[]): Promise<void>;
  /** Jobs whose next time was computed with an older version. */
  behind(shards: readonly number[], limit: number): Promise<string[]>;
  /** The same among these jobs. */
  behindOf(db: Queryable, jobIds: readonly string[]): Promise<string[]>;
  /** Takes jobs that nobody else holds. */
  lock(tx: Queryable, jobIds: readonly string[]): Promise<string[]>;
  ofJobs(tx: Queryable, jobIds: readonly string[]): Promise<SeenCalendar[]>;
  /** Their next time is computed with the present version now. */
  see(tx: Queryable, seen: readonly SeenCalendar[]): Promise<void>;
}

interface SeenRow {
  job_id: string;
  calendar_id: number;
  name: string;
  seen_version: number;
  version: number;
}

export function calendarLinks(db: Queryable, statements: Statements): CalendarLinks {
  const pin = statements.get("calendar.pin");
  const link = statements.get("calendar.link");
  const unlink = statements.get("calendar.unlink");
  const behind = statements.get("calendar.behind");
  const behindOf = statements.get("calendar.behind_of");
  const lock = statements.get("calendar.lock_jobs");
  const ofJobs = statements.get("calendar.of_jobs");
  const see = statements.get("calendar.see");
  return {
    async pin(tx, ids) {
      return new Set((await tx.query<{ id: number }>(pin, [ids])).rows.map((row) => row.id));
    },
    async link(tx, links) {
      if (links.length === 0) return;
      await tx.query(
        link,
        columns(links, [(one) => one.jobId, (one) => one.id, (one) => one.shard, (one) => one.version]),
      );
    },
    async unlink(tx, jobIds) {
      if (jobIds.length > 0) await tx.query(unlink, [jobIds]);
    },
    async behind(shards, limit) {
      const { rows } = await db.query<{ job_id: string }>(behind, [shardArray(shards), limit]);
      return rows.map((row) => row.job_id);
    },
    async behindOf(on, jobIds) {
      return (await on.query<{ job_id: string }>(behindOf, [jobIds])).rows.map((row) => row.job_id);
    },
    async lock(tx, jobIds) {
      return (await tx.query<{ job_id: string }>(lock, [jobIds])).rows.map((row) => row.job_id);
    },
    async see(tx, seen) {
      if (seen.length > 0)
        await tx.query(see, columns(seen, [(one) => one.jobId, (one) => one.calendarId, (one) => one.version]));
    },
    async ofJobs(tx, jobIds) {
      return (await tx.query<SeenRow>(ofJobs, [jobIds])).rows.map((row) => ({
        jobId: row.job_id,
        calendarId: row.calendar_id,
        name: row.name,
        seenVersion: row.seen_version,
        version: row.version,
      }));
    },
  };
}
