import { expect, it } from "vitest";
import { wireDefaults } from "../../../src/sdk/requests.js";
import { task } from "../../../src/sdk/define-task.js";

it("converts the defaults of a task to their names on the wire", () => {
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
