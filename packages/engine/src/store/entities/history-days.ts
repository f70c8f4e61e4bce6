import type { Instant } from "@carillon/core";
import type { Queryable } from "../db/queryable.js";
import { quotedSchema } from "../sql/schema-name.js";
import type { Statements } from "../sql/statement.js";

const dayMs = 86_400_000;

/** The day partitions of run_history. */
export interface HistoryDays {
  /** Makes the days from `first` on that do not exist; answers how many were made. */
  ensure(first: Instant, days: number): Promise<number>;
}

/**
 * A day is made as a table of its own and then attached: CREATE … PARTITION OF would lock the parent against every
 * insert while a reader is open. Two nodes may make the same day at once; the one that comes second fails, looks whether
 * the day is there, and goes on.
 */
export function historyDays(db: Queryable, statements: Statements, schema: string): HistoryDays {
  const list = statements.get("history.partitions");
  const target = quotedSchema(schema);

  async function make(day: Instant): Promise<void> {
    const name = partitionName(day);
    const from = new Date(day).toISOString();
    const to = new Date(day + dayMs).toISOString();
    try {
      await db.query({
        text: `create table if not exists ${target}.${name} (like ${target}.run_history including defaults including constraints)`,
      });
      await db.query({
        text: `alter table ${target}.run_history attach partition ${target}.${name} for values from ('${from}') to ('${to}')`,
      });
    } catch (error) {
      const attached = (await db.query<{ name: string }>(list, [schema])).rows.some((row) => row.name === name);
      if (!attached) throw error;
    }
  }

  return {
    async ensure(first, days) {
      const { rows } = await db.query<{ name: string }>(list, [schema]);
      const existing = new Set(rows.map((row) => row.name));
      let made = 0;
      for (let i = 0; i < days; i++) {
        const day = Math.floor(first / dayMs) * dayMs + i * dayMs;
        if (existing.has(partitionName(day))) continue;
        await make(day);
        made += 1;
      }
      return made;
    },
  };
}

function partitionName(day: Instant): string {
  return `run_history_${new Date(day).toISOString().slice(0, 10).replaceAll("-", "")}`;
}
