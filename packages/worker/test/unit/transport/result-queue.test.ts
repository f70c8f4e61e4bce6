import type { Completion } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { ClaimsHeld } from "../../../src/transport/http/claims-held.js";
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

describe("results on their way", () => {
  it("go one request at a time; what comes meanwhile goes together with the next", async () => {
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

  it("that the server does not take stand alone: that run fails, the others end as they did", async () => {
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

  it("are given back to their caller when nobody answers: nothing is lost", async () => {
    const queue = new ResultQueue(() => Promise.reject(new Error("away")));
    await expect(queue.add([result("a")])).rejects.toThrow("away");
  });
});

describe("claims that a worker holds", () => {
  it("are taken once, also when they are told of again after they ended [INV-2]", () => {
    const held = new ClaimsHeld();
    const run = (fence: number) => ({ runId: "a", fence }) as Parameters<ClaimsHeld["take"]>[0][number];
    expect(held.take([run(1)])).toHaveLength(1);
    expect(held.take([run(1)])).toHaveLength(0);
    held.drop([run(1)]);
    expect(held.take([run(1)])).toHaveLength(0);
    expect(held.take([run(2)])).toHaveLength(1);
    expect([...held]).toEqual([{ runId: "a", fence: 2 }]);
  });
});
