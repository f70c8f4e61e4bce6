import { audits } from "@carillon/engine";
import { Client } from "pg";
import type { LedgerRow, RunRow } from "../judge/evidence.js";

const isoAsMs = (column: string): string => `(extract(epoch from ${column}) * 1000)::float8`;
const jobIn = (payload: string): string => `substring(${payload}->>'url' from '^http://[^/]+/([^?]+)')`;

const finishedRuns = `
select id, ${jobIn("payload")} as job, ${isoAsMs("nominal_at")} as nominal, trigger, status, status_reason as reason, fence::float8, losses,
       (output->'body'->>'token')::int as token, ${isoAsMs("created_at")} as "createdAt", ${isoAsMs("finished_at")} as "finishedAt"
from carillon.run_history`;

const liveRuns = `
select id, ${jobIn("payload")} as job, ${isoAsMs("nominal_at")} as nominal, trigger, 'live' as status, state_reason as reason, fence::float8,
       losses, null::int as token, ${isoAsMs("created_at")} as "createdAt", null::float8 as "finishedAt"
from carillon.run`;

const ledger = `
select ${jobIn("job.payload")} as job, reason, ${isoAsMs("from_at")} as from, ${isoAsMs("to_at")} as to,
       ${isoAsMs("recorded_at")} as "recordedAt"
from carillon.occurrence join carillon.job on job.id = occurrence.job_id`;

const openWork = `
select (select count(*) from carillon.run)::int
     + (select count(*) from carillon.dependency_event)::int
     + (select count(*) from carillon.job_due where state = 'active' and next_fire_at <= clock_timestamp())::int as open`;

/** Reads the database over its own connection, without the proxies and without the product's code. */
export class DatabaseReader {
  readonly #url: () => string;

  constructor(url: () => string) {
    this.#url = url;
  }

  /** Counts runs that have not ended, unprocessed dependency events and due jobs. */
  async openWork(): Promise<number> {
    const [row] = await this.#rows<{ open: number }>(openWork);
    return row?.open ?? 0;
  }

  /** The sum of all epochs, which grows whenever a shard changes its owner. */
  async epochs(): Promise<number> {
    const [row] = await this.#rows<{ sum: number }>(
      "select coalesce(sum(epoch), 0)::float8 as sum from carillon.shard",
    );
    return row?.sum ?? 0;
  }

  async runs(): Promise<RunRow[]> {
    return [...(await this.#rows<RunRow>(finishedRuns)), ...(await this.#rows<RunRow>(liveRuns))];
  }

  ledger(): Promise<LedgerRow[]> {
    return this.#rows<LedgerRow>(ledger);
  }

  /** Runs the audits of docs/invariants.md and returns one line for each that found rows. */
  async audits(): Promise<string[]> {
    const found: string[] = [];
    for (const { invariant, statement } of audits("carillon")) {
      const rows = await this.#rows<object>(statement.text);
      if (rows.length > 0) found.push(`INV-${invariant}: ${rows.length} rows, such as ${JSON.stringify(rows[0])}`);
    }
    return found;
  }

  async #rows<Row extends object>(query: string): Promise<Row[]> {
    const client = new Client({ connectionString: this.#url() });
    client.on("error", () => {});
    await client.connect();
    try {
      return (await client.query<Row>(query)).rows;
    } finally {
      await client.end();
    }
  }
}
