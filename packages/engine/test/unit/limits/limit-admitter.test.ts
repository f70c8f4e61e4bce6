import { expect, it } from "vitest";
import { WaitingGates } from "../../../src/limits/limit-admitter.js";

it("takes the gates that wait for a limit in the order in which they were added, each once", () => {
  const gates = new WaitingGates();
  for (const gate of ["a", "b", "a", "c"]) gates.add(1, gate);
  gates.add(2, "a");
  expect(gates.take(1, 2)).toEqual(["a", "b"]);
  expect(gates.take(1, 2)).toEqual(["c"]);
  expect(gates.take(1, 2)).toEqual([]);
  expect(gates.size).toBe(1);
});

it("remembers a bounded number of waiting gates: the oldest are forgotten", () => {
  const gates = new WaitingGates(3);
  for (let limit = 0; limit < 1_000; limit++) gates.add(limit, `gate ${limit}`);
  expect(gates.size).toBe(3);
  expect([996, 997, 998, 999].map((limit) => gates.take(limit, 9).length)).toEqual([0, 1, 1, 1]);
});
