import type { Completion } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { ResultQueue } from "../../../src/transport/http/result-queue.js";
import { ServerRefused } from "../../../src/transport/http/server-calls.js";

const result = (runId: string, outputJson = "1"): Completion => ({
  runId,
  fence: 1,
  startedAgoMs: 0,
  outcome: { kind: "succeeded", outputJson },
});

interface Sent {
  readonly run_id: string;
  readonly outcome: string;
}

describe("the result queue", () => {
  it("sends one request at a time, and sends results that are added meanwhile together in the next one", async () => {
    const requests: string[][] = [];
    const queue = new ResultQueue(async (json) => {
      requests.push((JSON.parse(json) as Sent[]).map((sent) => sent.run_id));
      await Promise.resolve();
      return ["b"];
    });
    const answers = await Promise.all([queue.add([result("a")]), queue.add([result("b")]), queue.add([result("c")])]);
    expect(requests).toEqual([["a"], ["b", "c"]]);
    expect(answers.map((accepted) => [...accepted])).toEqual([["a"], [], ["c"]]);
  });

  it("isolates a result that the server refuses: its run fails, and the other results are accepted", async () => {
    const taken: string[] = [];
    const queue = new ResultQueue(async (json) => {
      const sent = JSON.parse(json) as Sent[];
      if (sent.some(({ run_id, outcome }) => run_id === "bad" && outcome === "succeeded"))
        throw new ServerRefused(400, "field_invalid", "no");
      taken.push(...sent.map(({ run_id, outcome }) => `${run_id} ${outcome}`));
      return [];
    });
    const accepted = await queue.add(["a", "bad", "c"].map((id) => result(id)));
    expect([...accepted].sort()).toEqual(["a", "bad", "c"]);
    expect(taken.sort()).toEqual(["a succeeded", "bad failed", "c succeeded"]);
  });

  it("rejects the call when the server does not answer, so that the caller can send the results again", async () => {
    const queue = new ResultQueue(() => Promise.reject(new Error("away")));
    await expect(queue.add([result("a")])).rejects.toThrow("away");
  });
});
