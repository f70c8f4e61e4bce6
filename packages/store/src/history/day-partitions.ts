import type { Instant } from "@carillon/core";
import type { Database } from "../db/database.js";
import { sqlStateOf } from "../db/errors.js";
import type { Queryable } from "../db/queryable.js";
import { quotedSchema } from "../sql/sql-text.js";
import type { Statements } from "../sql/statements.js";

const dayMs = 86_400_000;

/** The day partitions of a table. */
export interface DayPartitions {
  /** Makes the days from `first` on that do not exist; answers how many were made. */
  ensure(first: Instant, days: number): Promise<number>;
  /** Drops the days before the one of this instant; answers how many went. */
  drop(before: Instant): Promise<number>;
}

/** A table that is divided by days, and the column that says which. */
export type DayTable = "run_history" | "run_log";

/**
 * A day is made as a table of its own and then attached: CREATE … PARTITION OF would lock the parent against every
 * insert while a reader is open. Makers take turns by an advisory lock that ends with their transaction; who comes second
 * finds the day there. For the same reason a day is detached beside its readers and dropped after that.
 */
export function dayPartitions(
  db: Pick<Database, "query" | "transaction" | "schema">,
  statements: Statements,
  table: DayTable,
): DayPartitions {
  const list = statements.get("history.partitions");
  const past = statements.get("history.past_days");
  const turn = statements.get("history.take_turn");
  const { schema } = db;
  const target = quotedSchema(schema);

  async function existing(on: Queryable): Promise<Set<string>> {
    return new Set((await on.query<{ name: string }>(list, [schema, table])).rows.map((row) => row.name));
  }

  async function make(day: Instant): Promise<boolean> {
    const name = `${table}_${dayName(day)}`;
    const from = new Date(day).toISOString();
    const to = new Date(day + dayMs).toISOString();
    return db.transaction(async (tx) => {
      await tx.query(turn, [schema]);
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
    // One that a node was detaching when it died can only be finished.
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
      const { rows } = await db.query<PastDay>(past, [schema, table, dayName(before)]);
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
 * Days are made ahead; if one is missing all the same (a node that slept for weeks), the first write into it makes it and is
 * done again. PostgreSQL reports a row without a partition as a violated check.
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
