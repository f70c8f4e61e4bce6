import { readFileSync } from "node:fs";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { freshDatabase } from "@carillon/testkit";
import { Pool } from "pg";
import { afterEach, beforeEach, expect, it } from "vitest";
import { define, report } from "../../../../../examples/cron/jobs.js";
import { confirmationTask, schema, shop } from "../../../../../examples/express/app.js";
import { carillon, type LibraryApp } from "../../../src/index.js";

let app: LibraryApp;
let pool: Pool;
let drop: () => Promise<void>;
beforeEach(async () => {
  const fresh = await freshDatabase({ migrated: true });
  drop = () => fresh.drop();
  pool = new Pool({ connectionString: fresh.url });
  // The database may be dropped before the server has closed every connection.
  pool.on("error", () => undefined);
  app = carillon({ pool });
});
afterEach(async () => {
  await app.stop();
  await pool.end();
  await drop();
});

it("the first example has at most fifteen lines", () => {
  const hello = readFileSync(new URL("../../../../../examples/hello/main.js", import.meta.url), "utf8");
  expect(hello.trimEnd().split("\n").length).toBeLessThanOrEqual(15);
});

it("the example of schedules creates its jobs once, however often it is started, and they fire", async () => {
  const first = await define(app, { daily: "* * * * * *" });
  const again = await define(app, { daily: "* * * * * *" });
  expect(first.map(({ isNew }) => isNew)).toEqual([true, true, true]);
  expect(again).toEqual(first.map((job) => ({ ...job, isNew: false, nextRunAt: expect.any(Date) as Date })));
  const fired = new Promise((resolve) => app.on(["run.succeeded", "run.failed"], resolve));
  await app.worker({ tasks: [report], signals: false }).start();
  expect(await fired).toMatchObject({ type: "run.succeeded", task: "report" });
});

it("the example of an Express application confirms the order that is stored, and none that is rolled back", async () => {
  await pool.query(schema);
  let onOrder: (order: number) => void = () => undefined;
  const confirmed = new Promise<number>((resolve) => (onOrder = resolve));
  const confirm = confirmationTask(onOrder);
  const server: Server = shop({ pool, engine: app, confirm }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const orders = `http://127.0.0.1:${(server.address() as AddressInfo).port}/orders`;
  const post = { method: "POST", headers: { "content-type": "application/json" }, body: '{"item":"bell"}' };
  const [stored, soldOut] = [await fetch(orders, post), await fetch(orders, post)];
  server.close();
  expect([stored.status, soldOut.status]).toEqual([201, 409]);
  const { rows } = await pool.query("select payload from carillon.run where payload->>'order' is not null");
  const { order } = (await stored.json()) as { order: number };
  expect(rows).toEqual([{ payload: { order } }]);
  await app.worker({ tasks: [confirm], signals: false }).start();
  expect(await confirmed).toBe(order);
});
