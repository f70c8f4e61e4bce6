import { expect, it } from "vitest";
import { workerLimits } from "../../../src/bounds.js";
import { heartbeatWorker, releaseRuns } from "../../../src/resources/worker-protocol.js";
const claim = { run_id: "019a7f71-ece5-7060-8d10-5b3a9c36e0ad", fence: Number.MAX_SAFE_INTEGER };
const many = <Item>(item: Item): Item[] => Array.from({ length: workerLimits.runs }, () => item);

it("a request that names as many runs as it may is not too large", () => {
  const sign = { held: many(claim), started: many({ ...claim, ago_ms: workerLimits.agoMs }) };
  expect(JSON.stringify(sign).length).toBeLessThan(heartbeatWorker.bodyBytes);
  expect(JSON.stringify({ runs: many(claim) }).length).toBeLessThan(releaseRuns.bodyBytes);
});
