import { expect, it } from "vitest";
import { SteadyCost } from "../../../src/loops/loops.js";

it("what something held up once does not count, what is dear again and again does", () => {
  const cost = new SteadyCost();
  expect([40, 1, 3_000, 2, 500, 400, 3].map((tookMs) => cost.after(tookMs))).toEqual([40, 1, 1, 2, 2, 400, 3]);
});
