import type { Instant, LogLevel } from "@carillon/core";
import { timestampParam } from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statements.js";

export interface LinesAsked {
  readonly namespaceId: number;
  readonly runId: string;
  readonly after: LinePlace;
  readonly limit: number;
  readonly notBefore: Instant;
  readonly levels: readonly LogLevel[];
}

/** Reads what runs logged. */
export interface RunLogStore {
  lines(asked: LinesAsked): Promise<RunLine[]>;
}

export function runLogStore(db: Queryable, statements: Statements): RunLogStore {
  const lines = statements.get("record.lines");
  return {
    async lines({ namespaceId, runId, after, limit, notBefore, levels }) {
      type Row = Omit<RunLine, "at"> & { logged_at: Instant };
      const place = { afterFence: after.fence, afterNumber: after.number };
      const values = lines.values({
        namespaceId,
        runId,
        ...place,
        limit,
        notBefore: timestampParam(notBefore),
        levels,
      });
      const { rows } = await db.query<Row>(lines, values);
      return rows.map(({ logged_at: at, ...line }) => ({ ...line, at }));
    },
  };
}

/** Where a line stands in the log of its run: attempts follow one another, and so do the lines of each. */
export interface LinePlace {
  readonly fence: number;
  readonly number: number;
}

export interface RunLine extends LinePlace {
  readonly at: Instant;
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: unknown;
}
