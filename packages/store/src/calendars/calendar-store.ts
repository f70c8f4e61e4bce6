import { isDeepStrictEqual } from "node:util";
import { type CalendarDefinition, CarillonError, type Instant, formatId } from "@carillon/core";
import type { Database } from "../db/database.js";
import { jsonParam, namedColumns, shardArray } from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import { growRevisions } from "../limits/limit-owners.js";
import type { Statements } from "../sql/statements.js";

/** One version of a calendar. */
export interface CalendarEdition {
  readonly id: number;
  readonly version: number;
}

export interface StoredCalendar extends CalendarEdition {
  readonly namespaceId: number;
  readonly name: string;
  /** null: the caller has this edition. */
  readonly definition: CalendarDefinition | null;
}

/** All calendars. The revision grows with every change of any. */
export interface CalendarsInForce {
  readonly revision: number;
  readonly calendars: readonly StoredCalendar[];
}

export interface CalendarPut {
  readonly definition: CalendarDefinition;
  readonly ifVersion?: number;
}

export interface CalendarStore {
  revision(): Promise<number>;
  inForce(known: readonly CalendarEdition[]): Promise<CalendarsInForce>;
  /** Definitions as of a version; a missing one was deleted. */
  versions(
    db: Queryable,
    editions: readonly CalendarEdition[],
  ): Promise<(CalendarEdition & { readonly definition: CalendarDefinition })[]>;
  find(namespaceId: number, name: string): Promise<CalendarView | null>;
  list(namespaceId: number, after: string | null, limit: number): Promise<CalendarView[]>;
  /** An equal definition makes no new version. Throws precondition_failed. */
  put(
    namespaceId: number,
    put: CalendarPut,
  ): Promise<{ calendar: CalendarView; outcome: "created" | "replaced" | "same" }>;
  /** false: there is none. Throws calendar_in_use, precondition_failed. */
  delete(namespaceId: number, name: string, ifVersion?: number): Promise<boolean>;
}

interface CalendarRow {
  version: number;
  definition: CalendarDefinition;
  created_at: Instant;
  updated_at: Instant;
}

export function calendarStore(db: Database, statements: Statements): CalendarStore {
  return { ...calendarReads(db, statements), ...calendarWrites(db, statements) };
}

type Reads = Omit<CalendarStore, "put" | "delete">;

function calendarReads(db: Queryable, statements: Statements): Reads {
  const revision = statements.get("calendar.revision");
  const inForce = statements.get("calendar.list_in_force");
  const versions = statements.get("calendar.list_versions");
  const find = statements.get("calendar.find");
  const list = statements.get("calendar.list");
  return {
    async revision() {
      return (await db.query<{ revision: number }>(revision)).rows[0]?.revision ?? -1;
    },
    async inForce(known) {
      const { ids, versions: versionsOf } = editionColumns(known);
      const { rows } = await db.query<InForceRow>(
        inForce,
        inForce.values({ knownIds: ids, knownVersions: versionsOf }),
      );
      const calendars = rows.flatMap((row): StoredCalendar[] => {
        const { id, namespace_id: namespaceId, name, version, definition } = row;
        if (id === null || namespaceId === null || name === null || version === null) return [];
        return [{ id, namespaceId, name, version, definition }];
      });
      return { revision: rows[0]?.revision ?? -1, calendars };
    },
    async versions(on, editions) {
      if (editions.length === 0) return [];
      type Row = CalendarEdition & { definition: CalendarDefinition | null };
      const { rows } = await on.query<Row>(versions, versions.values(editionColumns(editions)));
      return rows.flatMap(({ id, version, definition }) => (definition === null ? [] : [{ id, version, definition }]));
    },
    async find(namespaceId, name) {
      const [row] = (await db.query<CalendarRow>(find, find.values({ namespaceId, name }))).rows;
      return row === undefined ? null : toView(row);
    },
    async list(namespaceId, after, limit) {
      return (await db.query<CalendarRow>(list, list.values({ namespaceId, afterName: after, limit }))).rows.map(
        toView,
      );
    },
  };
}

type Writes = Pick<CalendarStore, "put" | "delete">;
type HeldRow = CalendarRow & { id: number };

function calendarWrites(db: Database, statements: Statements): Writes {
  const lock = statements.get("calendar.lock");
  const insert = statements.get("calendar.insert");
  const keepVersion = statements.get("calendar.keep_version");
  const replace = statements.get("calendar.replace");
  const users = statements.get("calendar.list_users");
  const remove = statements.get("calendar.delete");
  const grow = growRevisions(statements);
  const held = async (
    tx: Queryable,
    namespaceId: number,
    name: string,
    ifVersion?: number,
  ): Promise<HeldRow | null> => {
    const row = (await tx.query<HeldRow>(lock, lock.values({ namespaceId, name }))).rows[0] ?? null;
    if (ifVersion !== undefined && row?.version !== ifVersion) throw otherVersion(name, row?.version, ifVersion);
    return row;
  };
  const putOnce: (tx: Queryable, namespaceId: number, put: CalendarPut) => ReturnType<CalendarStore["put"]> = async (
    tx,
    namespaceId,
    put,
  ) => {
    const { definition, ifVersion } = put;
    const text = jsonParam(definition);
    const before = await held(tx, namespaceId, definition.name, ifVersion);
    if (before === null) {
      const [made] = (
        await tx.query<CalendarRow>(insert, insert.values({ namespaceId, name: definition.name, definition: text }))
      ).rows;
      // Another transaction made it since: now its row can be locked.
      if (made === undefined) return putOnce(tx, namespaceId, put);
      await grow(tx, ["calendars"]);
      return { calendar: toView(made), outcome: "created" };
    }
    if (isDeepStrictEqual(before.definition, JSON.parse(text))) return { calendar: toView(before), outcome: "same" };
    await tx.query(keepVersion, keepVersion.values({ id: before.id }));
    const values = replace.values({ id: before.id, expectedVersion: before.version, definition: text });
    const [made] = (await tx.query<CalendarRow>(replace, values)).rows;
    if (made === undefined) throw new Error(`calendar ${before.id} changed although this transaction holds it`);
    await grow(tx, ["calendars", "windows"]);
    return { calendar: toView(made), outcome: "replaced" };
  };
  return {
    put: (namespaceId, put) => db.transaction((tx) => putOnce(tx, namespaceId, put)),
    delete: (namespaceId, name, ifVersion) =>
      db.transaction(async (tx) => {
        const before = await held(tx, namespaceId, name, ifVersion);
        if (before === null) return false;
        const values = users.values({ id: before.id, limit: maxNamed });
        const { rows } = await tx.query<{ id: string; key: string | null }>(users, values);
        if (rows.length > 0) throw inUse(name, rows);
        await tx.query(remove, remove.values({ id: before.id }));
        await grow(tx, ["calendars"]);
        return true;
      }),
  };
}

/** Users of a calendar that an error names. */
const maxNamed = 5;

function inUse(name: string, jobs: readonly { id: string; key: string | null }[]): CarillonError {
  const some = jobs.map(({ id, key }) => (key === null ? formatId("job", id) : `@${key}`)).join(", ");
  const detail = `Jobs use the calendar "${name}" (${some}${jobs.length < maxNamed ? "" : " …"}): change or cancel them first.`;
  return new CarillonError("calendar_in_use", detail);
}

function otherVersion(name: string, version: number | undefined, asked: number): CarillonError {
  const has =
    version === undefined ? `There is no calendar "${name}"` : `The calendar "${name}" has version ${version}`;
  return new CarillonError("precondition_failed", `${has}, not version ${asked}: read it again.`);
}

function editionColumns(editions: readonly CalendarEdition[]): { ids: number[]; versions: number[] } {
  return { ids: editions.map((one) => one.id), versions: editions.map((one) => one.version) };
}

interface InForceRow {
  revision: number;
  id: number | null;
  namespace_id: number | null;
  name: string | null;
  version: number | null;
  definition: CalendarDefinition | null;
}

function toView({ version, definition, created_at, updated_at }: CalendarRow): CalendarView {
  return { version, definition, createdAt: created_at, updatedAt: updated_at };
}

export interface CalendarView {
  readonly version: number;
  readonly definition: CalendarDefinition;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

/** A job and the edition of a calendar with which its next time was computed. */
export interface CalendarLink extends CalendarEdition {
  readonly jobId: string;
  readonly shard: number;
}

/** The same for a stored job, with the present version of the calendar. */
export interface SeenCalendar {
  readonly jobId: string;
  readonly calendarId: number;
  readonly name: string;
  readonly seenVersion: number;
  readonly version: number;
}

/** The calendars that jobs follow. Writes run in the caller's transaction. */
export interface CalendarLinks {
  /** Prevents the deletion of calendars until the transaction ends; returns those that exist. */
  pin(tx: Queryable, ids: readonly number[]): Promise<Set<number>>;
  link(tx: Queryable, links: readonly CalendarLink[]): Promise<void>;
  unlink(tx: Queryable, jobIds: readonly string[]): Promise<void>;
  /** Jobs whose next time was computed with an older version. */
  behind(shards: readonly number[], limit: number): Promise<string[]>;
  /** The same among these jobs. */
  behindOf(db: Queryable, jobIds: readonly string[]): Promise<string[]>;
  /** Locks jobs that no other transaction holds. */
  lock(tx: Queryable, jobIds: readonly string[]): Promise<string[]>;
  ofJobs(tx: Queryable, jobIds: readonly string[]): Promise<SeenCalendar[]>;
  /** Records that their next time is computed with the present version. */
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
  const behind = statements.get("calendar.list_outdated_jobs");
  const behindOf = statements.get("calendar.filter_outdated_jobs");
  const lock = statements.get("job_transaction.lock_available");
  const ofJobs = statements.get("calendar.list_of_jobs");
  const see = statements.get("calendar.save_seen_versions");
  return {
    async pin(tx, ids) {
      return new Set((await tx.query<{ id: number }>(pin, pin.values({ ids }))).rows.map((row) => row.id));
    },
    async link(tx, links) {
      if (links.length === 0) return;
      const linked = namedColumns(links, {
        jobIds: (one) => one.jobId,
        calendarIds: (one) => one.id,
        shards: (one) => one.shard,
        versions: (one) => one.version,
      });
      await tx.query(link, link.values(linked));
    },
    async unlink(tx, jobIds) {
      if (jobIds.length > 0) await tx.query(unlink, unlink.values({ jobIds }));
    },
    async behind(shards, limit) {
      const values = behind.values({ shards: shardArray(shards), limit });
      const { rows } = await db.query<{ job_id: string }>(behind, values);
      return rows.map((row) => row.job_id);
    },
    async behindOf(on, jobIds) {
      return (await on.query<{ job_id: string }>(behindOf, behindOf.values({ jobIds }))).rows.map((row) => row.job_id);
    },
    async lock(tx, jobIds) {
      return (await tx.query<{ job_id: string }>(lock, lock.values({ jobIds }))).rows.map((row) => row.job_id);
    },
    async see(tx, seen) {
      if (seen.length === 0) return;
      const saved = namedColumns(seen, {
        jobIds: (one) => one.jobId,
        calendarIds: (one) => one.calendarId,
        versions: (one) => one.version,
      });
      await tx.query(see, see.values(saved));
    },
    async ofJobs(tx, jobIds) {
      return (await tx.query<SeenRow>(ofJobs, ofJobs.values({ jobIds }))).rows.map((row) => ({
        jobId: row.job_id,
        calendarId: row.calendar_id,
        name: row.name,
        seenVersion: row.seen_version,
        version: row.version,
      }));
    },
  };
}
