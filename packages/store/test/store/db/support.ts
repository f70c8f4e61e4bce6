import { systemClock, systemRandom, systemTimers } from "@carillon/core";
import { TcpProxy, type TcpProxyOptions, freshDatabase } from "@carillon/testkit";
import { Client } from "pg";
import { onTestFinished } from "vitest";
import type { Database } from "../../../src/db/database.js";
import { openDatabase } from "../../../src/db/open-database.js";
import type { DatabaseOptions, DatabaseEvent } from "../../../src/db/options.js";

export const realTime = { clock: systemClock, timers: systemTimers, random: systemRandom };

/** The URL of a new empty database, for tests that change the database itself; dropped after the test. */
export async function freshUrl(): Promise<string> {
  const { url, drop } = await freshDatabase();
  onTestFinished(drop);
  return url;
}

let shared: Promise<string> | undefined;

/** The URL of a database that the tests of one file share; dropped after the test run. */
export function fileUrl(): Promise<string> {
  shared ??= freshDatabase().then(({ url }) => url);
  return shared;
}

/** A proxy in front of the URL's server; closed after the test. */
export async function proxyTo(url: string, options?: TcpProxyOptions): Promise<TcpProxy> {
  const proxy = await TcpProxy.start(url, options);
  onTestFinished(() => proxy.close());
  return proxy;
}

/** Ends every connection and takes no new one, like a dead server. */
export async function kill(proxy: TcpProxy): Promise<void> {
  await proxy.refuse();
  proxy.cut();
}

/** The events of the database. */
export class EventLog {
  readonly list: DatabaseEvent[] = [];
  readonly #waiting = new Set<() => void>();

  readonly record = (event: DatabaseEvent): void => {
    this.list.push(event);
    for (const check of this.#waiting) check();
  };

  /** Resolves with the nth event of the type, in the past or the future. */
  next<T extends DatabaseEvent["type"]>(type: T, nth = 1): Promise<DatabaseEvent & { type: T }> {
    return new Promise((resolve) => {
      const check = (): void => {
        const found = this.list.filter((event): event is DatabaseEvent & { type: T } => event.type === type)[nth - 1];
        if (found === undefined) return;
        this.#waiting.delete(check);
        resolve(found);
      };
      this.#waiting.add(check);
      check();
    });
  }
}

/** Opens a database over real time; closed after the test. */
export async function open(
  options: Partial<DatabaseOptions> & ({ url: string } | { pool: NonNullable<DatabaseOptions["pool"]> }),
): Promise<{ database: Database; events: EventLog }> {
  const events = new EventLog();
  const database = await openDatabase({ schema: "carillon", ...realTime, onEvent: events.record, ...options });
  onTestFinished(() => database.close());
  return { database, events };
}

/** A plain client, for statements that the test itself sends to the server. */
export async function outsider(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/** Polls until the condition is true: for states of the server that it does not announce. */
export async function eventually(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5));
}

export const text = (sql: string): { text: string } => ({ text: sql });
