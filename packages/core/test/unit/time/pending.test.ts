import { describe, expect, it } from "vitest";
import { pending } from "../../../src/index.js";

describe("a pending promise", () => {
  it("resolves a pending promise from outside, once", async () => {
    const { promise, resolve, reject } = pending<number>();
    resolve(1);
    resolve(2);
    reject(new Error("late"));
    expect(await promise).toBe(1);
  });

  it("rejects a pending promise from outside", async () => {
    const { promise, reject } = pending<number>();
    reject(new Error("no"));
    await expect(promise).rejects.toThrow("no");
  });
});
