import { ManualClock } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { Gate } from "../../../src/db/pool.js";
import { pass, settled } from "./passing-time.js";

const setUp = (size: number, maxWaiting = 10) => {
  const time = new ManualClock();
  return { time, gate: new Gate({ size, maxWaiting, timers: time }) };
};

describe("Gate", () => {
  it("admits as many callers as its size, then one for each that leaves, in the order of their calls", async () => {
    const { gate } = setUp(2);
    const entered: number[] = [];
    for (const caller of [1, 2, 3, 4]) void gate.enter(1_000).then(() => entered.push(caller));
    await settled();
    expect(entered).toEqual([1, 2]);
    gate.leave();
    await settled();
    expect(entered).toEqual([1, 2, 3]);
    gate.leave();
    gate.leave();
    gate.leave();
    await settled();
    expect(entered).toEqual([1, 2, 3, 4]);
    expect({ inside: gate.inside, waiting: gate.waiting }).toEqual({ inside: 0, waiting: 0 });
  });

  it("refuses a caller that waited too long, and admits the next one", async () => {
    const { gate, time } = setUp(1);
    await gate.enter(0);
    const early = gate.enter(100).catch((error: unknown) => error);
    const late = gate.enter(1_000);
    await pass(time, 100);
    expect(await early).toMatchObject({ code: "overloaded" });
    gate.leave();
    await late;
    expect(gate.inside).toBe(1);
  });

  it("refuses a caller at once when too many wait", async () => {
    const { gate } = setUp(1, 1);
    await gate.enter(0);
    void gate.enter(1_000);
    await expect(gate.enter(1_000)).rejects.toMatchObject({ code: "overloaded" });
  });

  it("leaves no timer for a caller that was admitted or refused", async () => {
    const { gate, time } = setUp(1);
    await gate.enter(0);
    const admitted = gate.enter(1_000);
    const refused = gate.enter(1_000).catch((error: unknown) => error);
    gate.leave();
    gate.refuseAll(new Error("over"));
    await admitted;
    expect(await refused).toEqual(new Error("over"));
    expect(time.pending).toBe(0);
  });
});
