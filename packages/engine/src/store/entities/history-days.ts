import type { Instant } from "@carillon/core";
import type { Database } from "../db/database.js";
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
 * insert while a reader is open. Makers take turns by an advisory lock that ends with their transaction; who comes second
 * finds the day there.
 */
export function historyDays(
  db: Pick<Database, "query" | "transaction">,
  statements: Statements,
  schema: string,
): HistoryDays {
  const list = statements.get("history.partitions");
  const turn = statements.get("history.take_turn");
  const target = quotedSchema(schema);

  async function existing(on: Queryable): Promise<Set<string>> {
    return new Set((await on.query<{ name: string }>(list, [schema])).rows.map((row) => row.name));
  }

  async function make(day: Instant): Promise<boolean> {
    const name = partitionName(day);
    const from = new Date(day).toISOString();
    const to = new Date(day + dayMs).toISOString();
    return db.transaction(async (tx) => {
      await tx.query(turn, [schema]);
      if ((await existing(tx)).has(name)) return false;
      await tx.query({
        text: `create table ${target}.${name} (like ${target}.run_history including defaults including constraints)`,
      });
      await tx.query({
        text: `alter table ${target}.run_history attach partition ${target}.${name} for values from ('${from}') to ('${to}')`,
      });
      return true;
    });
  }

  return {
    async ensure(first, days) {
      const known = await existing(db);
      let made = 0;
      for (let i = 0; i < days; i++) {
        const day = Math.floor(first / dayMs) * dayMs + i * dayMs;
        if (!known.has(partitionName(day)) && (await make(day))) made += 1;
      }
      return made;
    },
  };
}

function partitionName(day: Instant): string {
  return `run_history_${new Date(day).toISOString().slice(0, 10).replaceAll("-", "")}`;
}
