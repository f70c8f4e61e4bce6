import { expect, it } from "vitest";
import { taskRefusal } from "../../../src/sdk/task-refusal.js";

const item = (pointer: string, detail: string) => ({ pointer, code: "field_invalid", detail });

it("a registration that is refused for its tasks names each task and its options as the SDK has them", () => {
  const refusal = taskRefusal([
    item(
      "/defaults/mail/sla/start_within",
      "Must not be longer than finish_within, because a run starts before it ends.",
    ),
    item("/defaults/a~1b/guarantee", "Must be at_least_once."),
    item("/weights/a~1b", "Must be at most 10000, not 20000."),
  ]);
  expect(refusal).toMatchObject({ code: "config_invalid" });
  expect(refusal?.message.split("\n")).toEqual([
    'task("mail"): sla.startWithin must not be longer than finishWithin, because a run starts before it ends.',
    'task("a/b"): 2 options are wrong.',
    "  - guarantee must be at_least_once.",
    "  - weight must be at most 10000, not 20000.",
  ]);
});

it("a registration that is refused for another reason is not the fault of a task", () => {
  expect(taskRefusal([item("/defaults/mail/queue", "Must not be empty."), item("/slots", "Must be at least 1.")])).toBe(
    null,
  );
  expect(taskRefusal([])).toBe(null);
});
