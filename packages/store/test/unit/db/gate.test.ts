import { ManualClock } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { Gate } from "../../../src/db/gate.js";
import { pass, settled } from "./passing-time.js";

const setUp = (size: number, maxWaiting = 10) => {
  const time = new ManualClock();
  return { time, gate: new Gate({ size, maxWaiting, timers: time }) };
};

describe("Gate", () => {
  it("admits as many as its size, then one for each that leaves, in order of arrival", async () => {
    const { gate } = setUp(2);
    const entered: number[] = [];
    for (const who of [1, 2, 3, 4]) void gate.enter(1_000).then(() => entered.push(who));
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

  it("refuses who waited too long, and gives the place to the next one", async () => {
    const { gate, time } = setUp(1);
    await gate.enter(0);
    const impatient = gate.enter(100).catch((error: unknown) => error);
    const patient = gate.enter(1_000);
    await pass(time, 100);
    expect(await impatient).toMatchObject({ code: "overloaded" });
    gate.leave();
    await patient;
    expect(gate.inside).toBe(1);
  });

  it("refuses at once when too many wait", async () => {
    const { gate } = setUp(1, 1);
    await gate.enter(0);
    void gate.enter(1_000);
    await expect(gate.enter(1_000)).rejects.toMatchObject({ code: "overloaded" });
  });

  it("leaves no timer behind for who was admitted or refused", async () => {
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
