import type { PollAnswer, PollRequest } from "@carillon/engine";
import { expect, it } from "vitest";
import type { WorkersPort } from "../../../src/api/http/handler.js";
import { apiUnderTest } from "./api-under-test.js";

const runId = "019a7f71-ece5-7060-8d10-5b3a9c36e0ad";
const nothing: PollAnswer = {
  assignments: [],
  accepted: new Set(),
  stops: [],
  lost: [],
  isToDrain: false,
  isToLeave: false,
};

it("passes the number of a poll, the polls that have ended and the held claims to the engine", async () => {
  const polls: PollRequest[] = [];
  const poll = async (_namespace: string, _id: string, request: PollRequest) => {
    polls.push(request);
    return nothing;
  };
  const { post } = apiUnderTest({ workers: { poll } as unknown as WorkersPort });
  const body = { number: 3, ended_up_to: 2, held: [{ run_id: runId, fence: 7 }], wait_ms: 0 };
  expect((await post("/v1/workers/wrk_01k9zq3v5e0r8t2b7n4m6x1c9d:poll", body)).statusCode).toBe(200);
  const held = [{ runId, fence: 7 }];
  expect(polls).toMatchObject([{ number: 3, endedUpTo: 2, held, waitMs: 0, isDraining: false }]);
});
