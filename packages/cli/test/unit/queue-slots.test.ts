import { describe, expect, it } from "vitest";
import { queueSlots } from "../../src/worker-process.js";

describe("--queues", () => {
  it.each([
    ["*", [{ queues: ["*"], slots: 10 }]],
    ["a, b", [{ queues: ["a", "b"], slots: 10 }]],
    [
      "a,mail=5,b",
      [
        { queues: ["a", "b"], slots: 10 },
        { queues: ["mail"], slots: 5 },
      ],
    ],
    ["mail=5", [{ queues: ["mail"], slots: 5 }]],
  ])("--queues %s gives queues with a number their own slots", (text, groups) => {
    expect(queueSlots(text, 10)).toEqual(groups);
  });

  it.each(["", "a,,b", "a=0", "a=-1", "a=1=2", "a=x", "a=99999", "-a", "a,a", "a,a=2", "*,a"])(
    "%j is a usage error",
    (text) => {
      expect(() => queueSlots(text, 10)).toThrow(expect.objectContaining({ exitCode: 2 }));
    },
  );
});
