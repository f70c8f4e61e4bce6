import type { DurationMs } from "@carillon/core";
import { pause } from "./backoff.js";
import { sqlStateOf } from "./classify.js";
import type { Database } from "./database.js";
import { loadStatements } from "../sql/load-statements.js";

const lockNotAvailable = "55P03";
/** A migration or a vacuum has a table for a moment: that is no reason to send callers away. */
const tries = 3;
const pauseMs: DurationMs = 400;

/** Asks whether the tables that calls write to can be written to. Waits for nobody's lock, and keeps nobody waiting. */
export function writeProbe(database: Pick<Database, "schema" | "reserved" | "ports">): () => Promise<boolean> {
  const statement = loadStatements(database.schema).get("health.can_write");
  return async () => {
    for (let attempt = 1; ; attempt++) {
      try {
        await database.reserved.query(statement, []);
        return true;
      } catch (error) {
        if (sqlStateOf(error) !== lockNotAvailable) throw error;
        if (attempt === tries) return false;
      }
      await pause(pauseMs, database.ports.timers);
    }
  };
}
