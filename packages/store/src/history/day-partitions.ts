import type { Instant } from "@carillon/core";
import type { Database } from "../db/database.js";
import { sqlStateOf } from "../db/errors.js";
import type { Queryable } from "../db/queryable.js";
import { quotedSchema } from "../sql/sql-text.js";
import type { Statements } from "../sql/statements.js";

const dayMs = 86_400_000;

/** The day partitions of a table. */
export interface DayPartitions {
  /** Creates the missing days from `first` on; returns how many were created. */
  ensure(first: Instant, days: number): Promise<number>;
  /** Drops the days before the one of this instant; returns how many were dropped. */
  drop(before: Instant): Promise<number>;
}

/** A table that is partitioned by days. */
export type DayTable = "run_history" | "run_log";

/**
 * A day is created as a table of its own and then attached: CREATE … PARTITION OF would lock the parent against every
 * insert while a reader is open. Nodes create days one at a time, by an advisory lock that ends with their transaction; the second
 * one finds the day. For the same reason a day is detached concurrently with its readers and dropped after that.
 */
export function dayPartitions(
  db: Pick<Database, "query" | "transaction" | "schema">,
  statements: Statements,
  table: DayTable,
): DayPartitions {
  const list = statements.get("history.partitions");
  const past = statements.get("history.past_days");
  const lockDays = statements.get("history.lock_days");
  const { schema } = db;
  const target = quotedSchema(schema);

  async function existing(on: Queryable): Promise<Set<string>> {
    return new Set(
      (await on.query<{ name: string }>(list, list.values({ schema, table }))).rows.map((row) => row.name),
    );
  }

  async function make(day: Instant): Promise<boolean> {
    const name = `${table}_${dayName(day)}`;
    const from = new Date(day).toISOString();
    const to = new Date(day + dayMs).toISOString();
    return db.transaction(async (tx) => {
      await tx.query(lockDays, lockDays.values({ schema }));
      if ((await existing(tx)).has(name)) return false;
      await tx.query({
        text: `create table ${target}.${name} (like ${target}.${table} including defaults including constraints)`,
      });
      await tx.query({
        text: `alter table ${target}.${table} attach partition ${target}.${name} for values from ('${from}') to ('${to}')`,
      });
      return true;
    });
  }

  async function remove({ name, attached, detaching }: PastDay): Promise<void> {
    // A detachment that a dead node began can only be finished.
    const how = detaching ? "finalize" : "concurrently";
    if (attached) {
      await db.query({ text: `alter table ${target}.${table} detach partition ${target}.${name} ${how}` });
    }
    await db.query({ text: `drop table if exists ${target}.${name}` });
  }

  return {
    async ensure(first, days) {
      const known = await existing(db);
      let made = 0;
      for (let i = 0; i < days; i++) {
        const day = Math.floor(first / dayMs) * dayMs + i * dayMs;
        if (!known.has(`${table}_${dayName(day)}`) && (await make(day))) made += 1;
      }
      return made;
    },
    async drop(before) {
      const values = past.values({ schema, table, firstKeptDay: dayName(before) });
      const { rows } = await db.query<PastDay>(past, values);
      for (const day of rows) await remove(day);
      return rows.length;
    },
  };
}

interface PastDay {
  readonly name: string;
  readonly attached: boolean;
  readonly detaching: boolean;
}

function dayName(day: Instant): string {
  return new Date(day).toISOString().slice(0, 10).replaceAll("-", "");
}

const checkViolation = "23514";

/**
 * Days are created ahead. If one is missing all the same (a node that slept for weeks), the first write into it creates it and is
 * repeated. PostgreSQL reports a row without a partition as a violated check.
 */
export async function makingMissingDay<Result>(
  days: Pick<DayPartitions, "ensure">,
  now: () => Instant,
  write: () => Promise<Result>,
): Promise<Result> {
  try {
    return await write();
  } catch (error) {
    if (sqlStateOf(error) !== checkViolation) throw error;
    await days.ensure(now(), 1);
    return write();
  }
}
