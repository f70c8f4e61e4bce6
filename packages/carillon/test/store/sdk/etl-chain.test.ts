import { runEndEvents } from "@carillon/core";
import { freshDatabase } from "@carillon/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { define, tasks } from "../../../../../examples/etl-chain/chain.js";
import { carillon, type LibraryApp } from "../../../src/index.js";

let app: LibraryApp;
let drop: () => Promise<void>;
beforeEach(async () => {
  const fresh = await freshDatabase();
  drop = () => fresh.drop();
  app = carillon({ databaseUrl: fresh.url });
});
afterEach(async () => {
  await app.stop();
  await drop();
});

/** The tasks in the order in which their runs ended, until one of a name has ended so often. */
function untilEnded(name: string, times: number): Promise<string[]> {
  const ended: string[] = [];
  return new Promise((resolve) => {
    app.on(Object.values(runEndEvents), ({ task }) => {
      ended.push(task);
      if (ended.filter((one) => one === name).length === times) resolve(ended);
    });
  });
}

describe("the example of a chain", () => {
  it("runs each job after the one before it", async () => {
    const ended = untilEnded("etl.load", 1);
    await define(app, { cron: "* * * * * *" });
    await app.worker({ tasks, signals: false }).start();
    const order = await ended;
    expect(order.indexOf("etl.extract")).toBeLessThan(order.indexOf("etl.clean"));
    expect(order.indexOf("etl.clean")).toBeLessThan(order.indexOf("etl.load"));
    expect(order).not.toContain("etl.alert");
  });

  it("ends where a condition does not hold", async () => {
    const ended = untilEnded("etl.extract", 3);
    await define(app, { cron: "* * * * * *", source: "empty" });
    await app.worker({ tasks, signals: false }).start();
    expect(new Set(await ended)).toEqual(new Set(["etl.extract"]));
  });
});
