import { ManualClock } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { DatabaseClock } from "../../../src/db/database-clock.js";
import type { Queryable } from "../../../src/db/queryable.js";
import { pass } from "./passing-time.js";

interface Answer {
  readonly rows: never[];
  readonly rowCount: number;
}

/** A server whose clock is ahead of our monotonic one by `aheadMs`; the test sets how long each direction takes. */
class FakeServer implements Queryable {
  readonly #time: ManualClock;
  aheadMs = 1_700_000_000_000;
  thereMs = 1;
  backMs = 1;

  constructor(time: ManualClock) {
    this.#time = time;
  }

  async query(): Promise<Answer> {
    await pass(this.#time, this.thereMs);
    const now = this.#time.monotonic() + this.aheadMs;
    await pass(this.#time, this.backMs);
    return { rows: [{ now } as never], rowCount: 1 };
  }
}

const setUp = async () => {
  const time = new ManualClock();
  const server = new FakeServer(time);
  const steps: number[] = [];
  const clock = await DatabaseClock.start(server, time, (byMs) => steps.push(byMs));
  const errorMs = (): number => clock.now() - Math.floor(time.monotonic() + server.aheadMs);
  return { time, server, clock, steps, errorMs };
};

describe("DatabaseClock", () => {
  it("shows the database's time, within half a round trip", async () => {
    const { clock, errorMs } = await setUp();
    expect(errorMs()).toBe(0);
    expect(clock.uncertaintyMs).toBeLessThan(1.1);
  });

  it("does not move when the host's wall clock jumps, and reports the skew", async () => {
    const { clock, time, errorMs, steps } = await setUp();
    const before = clock.skewMs;
    time.jump(3_600_000);
    expect(errorMs()).toBe(0);
    await clock.tick();
    expect(errorMs()).toBe(0);
    expect(clock.skewMs - before).toBeCloseTo(3_600_000, -1);
    expect(steps).toEqual([]);
  });

  it("is not misled by slow responses with unequal directions", async () => {
    const { clock, server, errorMs, steps } = await setUp();
    server.thereMs = 400;
    for (let i = 0; i < 5; i++) await clock.tick();
    expect(Math.abs(errorMs())).toBeLessThanOrEqual(1);
    expect(steps).toEqual([]);
  });

  it("follows slow drift", async () => {
    const { clock, server, time, errorMs, steps } = await setUp();
    for (let i = 0; i < 100; i++) {
      await pass(time, 10_000);
      server.aheadMs += 1; // 100 ppm
      await clock.tick();
    }
    expect(Math.abs(errorMs())).toBeLessThanOrEqual(3);
    expect(steps).toEqual([]);
  });

  it.each([3_600_000, -3_600_000, 50])(
    "follows a step of the database's clock by %d ms at the next tick, and reports it",
    async (byMs) => {
      const { clock, server, errorMs, steps } = await setUp();
      server.aheadMs += byMs;
      await clock.tick();
      expect(errorMs()).toBe(0);
      expect(steps).toEqual([expect.closeTo(byMs, 3)]);
    },
  );

  it("grows less certain as its last sample ages", async () => {
    const { clock, time } = await setUp();
    const before = clock.uncertaintyMs;
    await pass(time, 60_000);
    expect(clock.uncertaintyMs).toBeGreaterThan(before + 5);
  });
});
