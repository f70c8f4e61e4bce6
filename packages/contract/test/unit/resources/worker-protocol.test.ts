import { formatId } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { workerLimits } from "../../../src/bounds.js";
import { readHeartbeat, readStateRequests, readPoll, readRelease } from "../../../src/index.js";
import { heartbeatWorker, releaseRuns } from "../../../src/resources/worker-protocol.js";

const runId = "019a7f71-ece5-7060-8d10-5b3a9c36e0ad";

describe.each([
  ["its UUID", runId],
  ["its id", formatId("run", runId)],
])("a worker that names a run by %s", (form, named) => {
  const claim = { run_id: named, fence: 3 };

  it(`can name a run by ${form} in a poll, with any outcome`, () => {
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

  it(`can name a run by ${form} in heartbeats, notes and releases`, () => {
    const { held, started } = readHeartbeat({ held: [claim], started: [{ ...claim, ago_ms: 2 }] });
    expect({ held, started }).toEqual({ held: [{ runId, fence: 3 }], started: [{ runId, fence: 3, agoMs: 2 }] });
    expect(readStateRequests({ requests: [{ ...claim, kind: "heartbeat" }] })).toEqual([
      { kind: "heartbeat", runId, fence: 3 },
    ]);
    expect(readRelease({ runs: [claim] })).toEqual([{ runId, fence: 3 }]);
  });
});

it("a request that names the maximum number of runs fits into the size limit of its body", () => {
  const claim = { run_id: runId, fence: Number.MAX_SAFE_INTEGER };
  const many = <Item>(item: Item): Item[] => Array.from({ length: workerLimits.runs }, () => item);
  const heartbeat = { held: many(claim), started: many({ ...claim, ago_ms: workerLimits.agoMs }) };
  expect(JSON.stringify(heartbeat).length).toBeLessThan(heartbeatWorker.bodyBytes);
  expect(JSON.stringify({ runs: many(claim) }).length).toBeLessThan(releaseRuns.bodyBytes);
});
