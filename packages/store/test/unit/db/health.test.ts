import { ManualClock } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { Health } from "../../../src/db/health.js";
import { pass, settled } from "./passing-time.js";
import type { DatabaseEvent } from "../../../src/db/options.js";

const setUp = () => {
  const time = new ManualClock();
  const events: DatabaseEvent[] = [];
  const server = { reachable: true, probes: 0 };
  const health = new Health({
    probe: async () => {
      server.probes++;
      if (!server.reachable) throw new Error("no server");
    },
    clock: time,
    timers: time,
    random: () => 0.5,
    onEvent: (event) => events.push(event),
  });
  return { time, events, server, health };
};

describe("Health", () => {
  it("stays up when the probe succeeds", async () => {
    const { health, events } = setUp();
    health.suspect();
    await settled();
    expect(health.state).toBe("up");
    expect(events).toEqual([]);
  });

  it("goes down when the probe fails, and calls fail at once", async () => {
    const { health, events, server } = setUp();
    server.reachable = false;
    health.suspect();
    await settled();
    expect(health.state).toBe("down");
    expect(events.map(({ type }) => type)).toEqual(["database.down"]);
    expect(() => health.assertUp()).toThrow(
      expect.objectContaining({ code: "database_unavailable", message: expect.stringContaining("no server") }),
    );
  });

  it("probes with growing pauses until the database is back, and reports how long it was away", async () => {
    const { health, events, server, time } = setUp();
    server.reachable = false;
    health.suspect();
    await settled();
    const waiting = health.waitUntilUp();
    await pass(time, 60_000);
    expect(server.probes).toBeGreaterThan(50);
    expect(server.probes).toBeLessThan(130);
    server.reachable = true;
    await pass(time, 5_000);
    await waiting;
    expect(health.state).toBe("up");
    expect(events.at(-1)).toMatchObject({ type: "database.up" });
    expect(time.pending).toBe(0);
  });

  it("probes once for many failed connections", async () => {
    const { health, server } = setUp();
    for (let i = 0; i < 100; i++) health.suspect();
    await settled();
    expect(server.probes).toBe(1);
  });

  it("stops probing, wakes waiting callers and refuses calls once it is closed", async () => {
    const { health, server, time } = setUp();
    server.reachable = false;
    health.suspect();
    await settled();
    const waiting = health.waitUntilUp();
    await health.close();
    await waiting;
    expect(time.pending).toBe(0);
    expect(() => health.assertUp()).toThrow(expect.objectContaining({ code: "shutting_down" }));
    const { probes } = server;
    health.suspect();
    await settled();
    expect(server.probes).toBe(probes);
  });
});
