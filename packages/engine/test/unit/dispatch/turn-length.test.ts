import { expect, it } from "vitest";
import { TurnLength } from "../../../src/dispatch/claims/turn-length.js";

it("statements that take long become smaller at once, and larger again step by step", () => {
  const turn = new TurnLength(500);
  turn.took(500, 100);
  expect(turn.size).toBe(150);
  turn.took(150, 3);
  expect(turn.size).toBe(300);
  turn.took(300, 6);
  expect(turn.size).toBe(500);
});

it("keeps within its bounds, and learns nothing from a statement that was hardly used", () => {
  const turn = new TurnLength(500);
  turn.took(3, 1_000);
  expect(turn.size).toBe(500);
  turn.took(500, 60_000);
  expect(turn.size).toBe(50);
  turn.took(50, 0);
  expect(turn.size).toBe(100);
});
