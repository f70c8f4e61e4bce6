import { CarillonError } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { writeAround } from "../../../src/scheduler/due-writer.js";

const rows = Array.from({ length: 1_000 }, (_, index) => index);
const poison = (...bad: number[]) => {
  const calls: number[] = [];
  return {
    calls,
    write: async (part: readonly number[]) => {
      calls.push(part.length);
      const found = part.find((row) => bad.includes(row));
      if (found !== undefined) throw Object.assign(new Error(`row ${found}`), { code: "22P02" });
      return part.map((row) => -row);
    },
  };
};

describe("writeAround", () => {
  it("writeAround writes a valid batch in one call", async () => {
    const { calls, write } = poison();
    const { done, faults, written } = await writeAround(rows, write);
    expect([done.length, faults.length, written, calls]).toEqual([1_000, 0, 1_000, [1_000]]);
  });

  it("writeAround finds the faulty rows in few calls and writes all others", async () => {
    const { calls, write } = poison(3, 700);
    const { done, faults, written } = await writeAround(rows, write);
    expect(faults.map(({ row, error }) => [row, (error as Error).message])).toEqual([
      [3, "row 3"],
      [700, "row 700"],
    ]);
    expect([done.length, written]).toEqual([998, 998]);
    expect(calls.length).toBeLessThan(50);
  });

  it("writeAround stops after sixteen faulty rows and leaves the rest to a later try", async () => {
    const { calls, write } = poison(...rows);
    const { done, faults, written } = await writeAround(rows, write);
    expect([done.length, faults.length, written]).toEqual([0, 16, 0]);
    expect(calls.length).toBeLessThan(100);
  });

  it.each([
    ["of the connection", new CarillonError("database_unavailable", "gone")],
    ["of a deadlock", Object.assign(new Error("deadlock"), { code: "40P01" })],
    ["of the statement itself", Object.assign(new Error("no such column"), { code: "42703" })],
    ["of too little memory", Object.assign(new Error("out of memory"), { code: "53200" })],
  ])("writeAround throws an error %s at once", async (_whose, error) => {
    let calls = 0;
    const write = async (): Promise<never> => {
      calls += 1;
      throw error;
    };
    await expect(writeAround(rows, write)).rejects.toBe(error);
    expect(calls).toBe(1);
  });
});
