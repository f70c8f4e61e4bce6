import { type AfterSchedule, formatId, type JobSpec, parseId } from "@carillon/core";
import type { TaskContext, UpstreamRun } from "@carillon/worker";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Engine, RunView } from "../../../src/index.js";
import { actor, spec } from "../../harness/change-harness.js";
import { EngineHarness } from "../../harness/engine-harness.js";

let h: EngineHarness;
let engine: Engine;
let names = 0;
const heard: { readonly runId: string; readonly upstream: readonly UpstreamRun[] }[] = [];

beforeAll(async () => {
  h = await EngineHarness.create();
  engine = await h.startNode();
  const listen = {
    name: "listen",
    run: async (payload: unknown, { runId, upstream }: TaskContext) => {
      heard.push({ runId: parseId("run", runId), upstream: await upstream() });
      h.checkConditions();
      if (payload === "fail") throw new Error("heard and failed");
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
  (await engine.api.createJob("default", spec({ firing: { overlap: "allow" }, ...over }))).id;
const upstream = (task: "say" | "fail", payload: unknown = null): Promise<string> =>
  job({ key: `up-${++names}`, task, payload, policy: { retry: { maxAttempts: 1 } } });
const after = (jobs: readonly string[], on: "success" | "finish" = "success"): AfterSchedule => ({
  kind: "after",
  after: jobs.map((id) => ({ job: formatId("job", id), on })),
});
const runNow = (id: string): Promise<RunView> => engine.api.runNow("default", { id }, {}, actor);

/** What the next handler that listens is told. */
async function nextHeard(begin: () => Promise<unknown>): Promise<(typeof heard)[number]> {
  const before = heard.length;
  await begin();
  await h.until(() => heard.length > before);
  return heard[before] ?? { runId: "", upstream: [] };
}

describe("a handler that another job's end started", () => {
  it("is told the run that ended, its job, its outcome and its output", async () => {
    const up = await upstream("say", { rows: 7 });
    await job({ task: "listen", schedule: after([up]) });
    let id = "";
    const { upstream: told } = await nextHeard(async () => ({ id } = await runNow(up)));
    const about = {
      runId: formatId("run", id),
      jobId: formatId("job", up),
      jobKey: `up-${names}`,
      status: "succeeded",
      reason: null,
      error: null,
    };
    expect(told).toMatchObject([{ ...about, output: { said: { rows: 7 } }, isOutputCut: false }]);
  });

  it("is told of a failure why", async () => {
    const up = await upstream("fail");
    await job({ task: "listen", schedule: after([up], "finish") });
    const { upstream: told } = await nextHeard(() => runNow(up));
    const error = { type: "Error", message: "no luck" };
    expect(told).toMatchObject([{ status: "failed", reason: "handler_error", output: null, error }]);
  });

  it("is told all of several, in the order in which its job names them, and an output that is too long is left out", async () => {
    const [one, two] = [await upstream("say", 1), await upstream("say", "long")];
    await job({ task: "listen", schedule: after([one, two]) });
    const { upstream: told, runId } = await nextHeard(async () => {
      await runNow(two);
      await runNow(one);
    });
    const { trigger } = (await engine.api.getRun("default", runId)) ?? {};
    expect(trigger).toMatchObject({ kind: "after", upstreamIds: told.map((run) => parseId("run", run.runId)) });
    expect(trigger?.kind === "after" && trigger.upstreamIds).toContain(trigger?.id);
    expect(told).toMatchObject([
      { jobId: formatId("job", one), output: { said: 1 }, isOutputCut: false },
      { jobId: formatId("job", two), output: null, isOutputCut: true },
    ]);
  });

  it("is told the same in a retry by hand, and nothing in a run by hand", async () => {
    const up = await upstream("say", 1);
    const down = await job({
      task: "listen",
      payload: "fail",
      schedule: after([up]),
      policy: { retry: { maxAttempts: 1 } },
    });
    const isOver = (runId: string): boolean =>
      h.events.some((event) => event.type === "run.finished" && event.runId === runId);
    const first = await nextHeard(() => runNow(up));
    await h.until(() => isOver(first.runId));
    const again = await nextHeard(() => engine.api.retryRun("default", first.runId, {}, actor));
    expect(again.upstream).toEqual(first.upstream);
    await h.until(() => isOver(again.runId));
    expect((await nextHeard(() => engine.api.replayRun("default", again.runId, {}, actor))).upstream).toEqual(
      first.upstream,
    );
    expect((await nextHeard(() => runNow(down))).upstream).toEqual([]);
  });
});
