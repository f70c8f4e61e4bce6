import { type AfterSchedule, formatId, type JobSpec, parseId, isRunEnd } from "@carillon/core";
import type { TaskContext, UpstreamRun } from "@carillon/worker";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Engine, RunView } from "../../../src/index.js";
import { actor, spec } from "../../harness/change-harness.js";
import { EngineHarness } from "../../harness/engine-harness.js";

let h: EngineHarness;
let engine: Engine;
let names = 0;
const calls: { readonly runId: string; readonly upstream: readonly UpstreamRun[] }[] = [];

beforeAll(async () => {
  h = await EngineHarness.create();
  engine = await h.startNode();
  const listen = {
    name: "listen",
    run: async (payload: unknown, { runId, upstream }: TaskContext) => {
      calls.push({ runId: parseId("run", runId), upstream: await upstream() });
      h.checkConditions();
      if (payload === "fail") throw new Error("read and failed");
    },
  };
  const say = {
    name: "say",
    run: (payload: unknown) => (payload === "long" ? "x".repeat(300_000) : { said: payload }),
  };
  const fail = {
    name: "fail",
    run: () => {
      throw new Error("no luck");
    },
  };
  await h.startWorker(engine, say, fail, listen);
});
afterAll(() => h.close());

const job = async (over: Partial<JobSpec>): Promise<string> =>
  (await engine.jobs.create("default", spec({ firing: { overlap: "allow" }, ...over }))).id;
const upstream = (task: "say" | "fail", payload: unknown = null): Promise<string> =>
  job({ key: `up-${++names}`, task, payload, policy: { retry: { maxAttempts: 1 } } });
const after = (jobs: readonly string[], on: "success" | "finish" = "success"): AfterSchedule => ({
  kind: "after",
  after: jobs.map((id) => ({ job: formatId("job", id), on })),
});
const runNow = (id: string): Promise<RunView> => engine.jobs.runNow("default", { id }, {}, actor);

/** The upstream runs of the next call of the handler. */
async function nextCall(begin: () => Promise<unknown>): Promise<(typeof calls)[number]> {
  const before = calls.length;
  await begin();
  await h.until(() => calls.length > before);
  return calls[before] ?? { runId: "", upstream: [] };
}

describe("a handler of a run that upstream ends started", () => {
  it("gives a handler the upstream run, its job, its outcome and its output", async () => {
    const up = await upstream("say", { rows: 7 });
    await job({ task: "listen", schedule: after([up]) });
    let id = "";
    const { upstream: ended } = await nextCall(async () => ({ id } = await runNow(up)));
    const about = {
      runId: formatId("run", id),
      jobId: formatId("job", up),
      jobKey: `up-${names}`,
      status: "succeeded",
      reason: null,
      error: null,
    };
    expect(ended).toMatchObject([{ ...about, output: { said: { rows: 7 } }, isOutputCut: false }]);
  });

  it("gives a handler the error of a failed upstream run", async () => {
    const up = await upstream("fail");
    await job({ task: "listen", schedule: after([up], "finish") });
    const { upstream: ended } = await nextCall(() => runNow(up));
    const error = { type: "Error", message: "no luck" };
    expect(ended).toMatchObject([{ status: "failed", reason: "handler_error", output: null, error }]);
  });

  it("gives a handler several upstream runs in the order of its schedule, without outputs that are too long", async () => {
    const [one, two] = [await upstream("say", 1), await upstream("say", "long")];
    await job({ task: "listen", schedule: after([one, two]) });
    const { upstream: ended, runId } = await nextCall(async () => {
      await runNow(two);
      await runNow(one);
    });
    const { trigger } = (await engine.runs.get("default", runId)) ?? {};
    expect(trigger).toMatchObject({ kind: "after", upstreamIds: ended.map((run) => parseId("run", run.runId)) });
    expect(trigger?.kind === "after" && trigger.upstreamIds).toContain(trigger?.id);
    expect(ended).toMatchObject([
      { jobId: formatId("job", one), output: { said: 1 }, isOutputCut: false },
      { jobId: formatId("job", two), output: null, isOutputCut: true },
    ]);
  });

  it("gives a retried run the upstream runs of the first, and a requested run none", async () => {
    const up = await upstream("say", 1);
    const down = await job({
      task: "listen",
      payload: "fail",
      schedule: after([up]),
      policy: { retry: { maxAttempts: 1 } },
    });
    const isOver = (runId: string): boolean => h.events.some((event) => isRunEnd(event) && event.runId === runId);
    const first = await nextCall(() => runNow(up));
    await h.until(() => isOver(first.runId));
    const again = await nextCall(() => engine.deadLetters.retryRun("default", first.runId, {}, actor));
    expect(again.upstream).toEqual(first.upstream);
    await h.until(() => isOver(again.runId));
    expect((await nextCall(() => engine.deadLetters.replayRun("default", again.runId, {}, actor))).upstream).toEqual(
      first.upstream,
    );
    expect((await nextCall(() => runNow(down))).upstream).toEqual([]);
  });
});
