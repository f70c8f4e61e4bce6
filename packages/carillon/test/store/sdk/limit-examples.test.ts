import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { runEndEvents } from "@carillon/core";
import { freshDatabase } from "@carillon/testkit";
import { Client } from "pg";
import { afterEach, beforeEach, expect, it } from "vitest";
import { define, pollingTask } from "../../../../../examples/api-polling/polling.js";
import { eventTask, publish } from "../../../../../examples/customer-order/orders.js";
import { carillon, type LibraryApp } from "../../../src/index.js";

let app: LibraryApp;
let url: string;
let drop: () => Promise<void>;
beforeEach(async () => {
  const fresh = await freshDatabase();
  ({ url } = fresh);
  drop = () => fresh.drop();
  app = carillon({ databaseUrl: fresh.url });
});
afterEach(async () => {
  await app.stop();
  await drop();
});

/** Resolves when so many runs have ended. */
function untilEnded(count: number): Promise<void> {
  let left = count;
  return new Promise((resolve) => app.on(Object.values(runEndEvents), () => void (--left === 0 && resolve())));
}

function listening(server: Server): Promise<string> {
  return new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)),
  );
}

/** The maximum of starts in any second of the database's clock. */
async function maxStarts(): Promise<number> {
  const client = new Client(url);
  await client.connect();
  const { rows } = await client.query<{ most: number }>(
    `select max(count)::int as most from (
       select count(*) over (order by started_at range between interval '999 milliseconds' preceding and current row) as count
       from carillon.run_history
     ) as windows`,
  );
  await client.end();
  return rows[0]?.most ?? Number.NaN;
}

it("the example of an API with a rate calls it for every city and no more often than it allows", async () => {
  const cities = new Set<string>();
  const server = createServer((_request, response) => response.end("{}"));
  const api = await listening(server);
  const onWeather = (city: string): void => void cities.add(city);
  const poll = pollingTask({ url: api, onWeather, rate: { limit: 2, per: "1s" } });
  const ended = untilEnded(7);
  await define(app, poll, ["a", "b", "c", "d", "e"], "1s");
  await app.worker({ tasks: [poll], signals: false }).start();
  await ended;
  server.close();
  expect(cities.size).toBe(5);
  expect(await maxStarts()).toBeLessThanOrEqual(2);
});

it("the example of orders handles the events of each order in their order", async () => {
  const handled: { order: number; kind: string }[] = [];
  const onEvent = eventTask((event: { order: number; kind: string }) => void handled.push(event));
  const kinds = ["placed", "paid", "shipped", "delivered"];
  const events = kinds.flatMap((kind) => [1, 2, 3].map((order) => ({ order, kind })));
  const ended = untilEnded(events.length);
  await app.worker({ tasks: [onEvent], signals: false }).start();
  await publish(app, onEvent, events);
  await ended;
  for (const order of [1, 2, 3])
    expect(handled.filter((event) => event.order === order).map((event) => event.kind)).toEqual(kinds);
});
