import { formatId } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { readHeartbeat, readNotes, readPoll, readRelease } from "../../../src/index.js";

const runId = "019a7f71-ece5-7060-8d10-5b3a9c36e0ad";

describe.each([
  ["its UUID", runId],
  ["its id", formatId("run", runId)],
])("a worker that names a run by %s", (_form, named) => {
  const claim = { run_id: named, fence: 3 };

  it("is understood in a poll, with any outcome", () => {
    const success = { ...claim, started_ago_ms: 1, outcome: "succeeded", output: 7 };
    const snooze = { ...claim, started_ago_ms: 1, outcome: "snoozed", delay_ms: 5 };
    const { held, completions } = readPoll({ held: [claim], results: [success, snooze] });
    expect(held).toEqual([{ runId, fence: 3 }]);
    expect(completions).toMatchObject([
      { runId, outcome: { kind: "succeeded", outputJson: "7" } },
      { runId, outcome: { kind: "snoozed" } },
    ]);
    expect(readPoll({ held: [claim], results: [success] })).toMatchObject({ held, completions: [{ runId }] });
  });

  it("is understood in signs of life, in notes, and when it gives the run back", () => {
    const { held, started } = readHeartbeat({ held: [claim], started: [{ ...claim, ago_ms: 2 }] });
    expect({ held, started }).toEqual({ held: [{ runId, fence: 3 }], started: [{ runId, fence: 3, agoMs: 2 }] });
    expect(readNotes({ notes: [{ ...claim, kind: "alive" }] })).toEqual([{ kind: "alive", runId, fence: 3 }]);
    expect(readRelease({ runs: [claim] })).toEqual([{ runId, fence: 3 }]);
  });
});
