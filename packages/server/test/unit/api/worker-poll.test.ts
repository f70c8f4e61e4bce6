import { expect, it } from "vitest";
import { apiUnderTest } from "./api-under-test.js";
import { FakeWorkers } from "./fake-workers.js";

const runId = "019a7f71-ece5-7060-8d10-5b3a9c36e0ad";

it("passes the number of a poll, the polls that have ended and the held claims to the engine", async () => {
  const workers = new FakeWorkers();
  const { post } = apiUnderTest({ workers });
  const registered = await post("/v1/workers:register", { name: "w", queues: ["default"], tasks: ["echo"], slots: 1 });
  const { id } = registered.json<{ id: string }>();
  const body = { number: 3, ended_up_to: 2, held: [{ run_id: runId, fence: 7 }], wait_ms: 0 };
  expect((await post(`/v1/workers/${id}:poll`, body)).statusCode).toBe(200);
  const held = [{ runId, fence: 7 }];
  expect(workers.polls).toMatchObject([{ number: 3, endedUpTo: 2, held, waitMs: 0, isDraining: false }]);
});
