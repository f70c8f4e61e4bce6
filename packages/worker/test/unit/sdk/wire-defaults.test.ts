import { expect, it } from "vitest";
import { task } from "../../../src/sdk/task.js";
import { wireDefaults } from "../../../src/sdk/wire-defaults.js";

it("what a task says of its runs is asked for with each of them, in the words of the wire", () => {
  const { defaults } = task({
    name: "pay",
    deadline: "1h",
    sla: { startWithin: "1m" },
    searchable: ["customer.id"],
    retry: { maxAttempts: 3 },
    run: () => null,
  });
  expect(wireDefaults(defaults)).toEqual({
    deadline: "1h",
    sla: { start_within: "1m" },
    searchable: ["customer.id"],
    retry: { max_attempts: 3 },
  });
});
