import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { RemoteWorkers } from "../../../src/dispatch/remote/remote-workers.js";
import { dispatchContext } from "../../harness/dispatch-context.js";
import { gatewayOver } from "../../harness/gateway-harness.js";
import { type StoreHarness, storeHarness } from "../../harness/store-harness.js";

const worker = { namespace: "default", name: "w", queues: ["default"], tasks: ["echo"], slots: 2, ahead: 0 };
const nothing = { completions: [], held: [], waitMs: 0 } as const;
const long = { ...nothing, waitMs: 60_000 } as const;

let h: StoreHarness;
const stops: (() => void)[] = [];
beforeEach(async () => {
  h = await storeHarness();
});
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
  return h.close();
});

function node() {
  const { gateway } = gatewayOver(h);
  stops.push(() => gateway.stop());
  const remote = new RemoteWorkers(dispatchContext({ store: h.store }), gateway);
  return { gateway, remote };
}

const held = (runId: string, fence: number) => ({ runId, fence });
const success = (runId: string, fence: number) =>
  ({ runId, fence, startedAgoMs: 0, outcome: { kind: "succeeded", outputJson: "1" } }) as const;
const failure = (runId: string, fence: number) => {
  const error = { type: "Error", message: "no", retryable: true };
  return { runId, fence, startedAgoMs: 0, outcome: { kind: "failed", reason: "handler_error", error } } as const;
};
const statusOf = async (id: string) =>
  (await h.store.reads.live(1, [id]))[0]?.status ?? (await h.store.reads.finished(1, [id], 0))[0]?.status;

describe("remote workers", () => {
  it("a remote worker polls for a run, gets it, and reports its result", async () => {
    const { gateway, remote } = node();
    const id = await remote.register(worker);
    const waiting = remote.poll(id, long);
    const runId = await h.run();
    gateway.hintAll();
    expect((await waiting).assignments).toMatchObject([{ runId, fence: 1, payloadJson: '{"n":1}' }]);
    const answer = await remote.poll(id, { ...nothing, completions: [success(runId, 1)], held: [held(runId, 1)] });
    expect([...answer.accepted]).toEqual([runId]);
    expect(answer.assignments).toEqual([]);
    expect(await statusOf(runId)).toBe("succeeded");
  });

  it("a remote worker gets a run again that it does not name, because the answer was lost [INV-6]", async () => {
    const { remote } = node();
    const id = await remote.register(worker);
    const runId = await h.run();
    const first = await remote.poll(id, long);
    const second = await remote.poll(id, long);
    expect(second.assignments).toEqual(first.assignments);
    expect((await remote.poll(id, { ...nothing, held: [held(runId, 1)] })).assignments).toEqual([]);
  });

  it.each([
    ["succeeded", success, "succeeded"],
    ["failed and is tried again", failure, "retrying"],
  ] as const)(
    "a remote worker gets its result acknowledged, also when the first answer was lost: it %s [INV-4]",
    async (_kind, outcome, status) => {
      const { remote } = node();
      const id = await remote.register(worker);
      const runId = await h.run();
      await remote.poll(id, long);
      const result = { ...nothing, completions: [outcome(runId, 1)], held: [held(runId, 1)] };
      for (let time = 0; time < 2; time++) expect([...(await remote.poll(id, result)).accepted]).toEqual([runId]);
      expect(await statusOf(runId)).toBe(status);
      expect((await h.store.reads.finished(1, [runId], 0)).length).toBe(status === "succeeded" ? 1 : 0);
    },
  );

  it.each([
    ["tried again", 5, "retrying"],
    ["failed", 1, "failed"],
  ])(
    "a remote worker gets no acknowledgement of a late success after the server has ended the attempt: it is %s [INV-4]",
    async (_how, maxAttempts, status) => {
      const { remote, gateway } = node();
      const id = await remote.register(worker);
      const runId = await h.run({ policy: { retry: { maxAttempts } } });
      await remote.poll(id, long);
      // As the server does when a handler takes too long.
      await gateway.complete(id, [failure(runId, 1)]);
      const late = { ...nothing, completions: [success(runId, 1)], held: [held(runId, 1)] };
      expect((await remote.poll(id, late)).accepted.size).toBe(0);
      expect(await statusOf(runId)).toBe(status);
    },
  );

  it("a remote worker learns which of its runs are no longer its own, and its late result is refused [INV-4]", async () => {
    const { remote } = node();
    const id = await remote.register(worker);
    const runId = await h.run();
    await remote.poll(id, long);
    await h.db.query({
      text: "update carillon.run set state = 'queued', session_id = null, fence = fence + 1",
    });
    const second = node();
    const other = await second.remote.register(worker);
    await second.remote.poll(other, long);
    const stranger = node();
    expect((await stranger.remote.poll(id, { ...nothing, held: [held(runId, 1)] })).lost).toMatchObject([
      { runId, fence: 1 },
    ]);
    const late = { ...nothing, completions: [success(runId, 1)], held: [] };
    expect((await stranger.remote.poll(id, late)).accepted.size).toBe(0);
    expect(await statusOf(runId)).toBe("running");
  });

  it("a remote worker gets session_lost after it was declared dead", async () => {
    const { remote } = node();
    const id = await remote.register(worker);
    await h.store.sessions.close(id);
    await expect(node().remote.poll(id, nothing)).rejects.toThrow("was declared dead or closed");
  });

  it("a remote worker counts as disconnected after its connection breaks, until its next heartbeat", async () => {
    const { gateway, remote } = node();
    const id = await remote.register(worker);
    const beat = async () =>
      (await h.db.query<{ beat: string }>({ text: "select heartbeat_at::text as beat from carillon.worker_session" }))
        .rows[0]?.beat;
    const gone = new AbortController();
    const polling = remote.poll(id, { ...long, signal: gone.signal });
    gone.abort();
    await polling;
    const before = await beat();
    await gateway.heartbeat();
    expect(await beat()).toBe(before);
    await remote.heartbeat(id, {});
    await gateway.heartbeat();
    expect(await beat()).not.toBe(before);
  });

  it("a remote worker gets its first poll answered at once when it sends a second one", async () => {
    const { remote } = node();
    const id = await remote.register(worker);
    const first = remote.poll(id, long);
    const second = remote.poll(id, { ...nothing, waitMs: 1 });
    expect((await first).assignments).toEqual([]);
    expect((await second).assignments).toEqual([]);
  });

  it("a remote worker gives back runs that it does not start, and another worker gets them with no try spent", async () => {
    const { remote } = node();
    const id = await remote.register(worker);
    const runId = await h.run();
    await remote.poll(id, long);
    await remote.giveBack(id, [{ runId, fence: 1 }]);
    await remote.close(id);
    const other = node();
    const answer = await other.remote.poll(await other.remote.register(worker), long);
    expect(answer.assignments).toMatchObject([{ runId, fence: 2, attempt: 1 }]);
  });
});

describe("remote workers at another node", () => {
  it("a remote worker that another node takes over gets the runs that it holds again, and reports results there", async () => {
    const [a, b] = [node(), node()];
    const id = await a.remote.register(worker);
    const runId = await h.run();
    await a.remote.poll(id, long);
    expect((await b.remote.poll(id, nothing)).assignments).toMatchObject([{ runId, fence: 1 }]);
    const result = { ...nothing, completions: [success(runId, 1)], held: [held(runId, 1)] };
    expect([...(await b.remote.poll(id, result)).accepted]).toEqual([runId]);
  });

  it("a remote worker that another node takes over gets nothing more from the first node, which sends no heartbeats for it either", async () => {
    const [a, b] = [node(), node()];
    const id = await a.remote.register(worker);
    await a.remote.poll(id, nothing);
    await b.remote.poll(id, nothing);
    const runId = await h.run();
    a.gateway.resume(id);
    for (const { gateway } of [a, b]) gateway.hintAll();
    expect((await b.remote.poll(id, long)).assignments).toMatchObject([{ runId }]);
    await a.gateway.heartbeat();
    expect(a.gateway.isOpen(id)).toBe(false);
    expect(b.gateway.isOpen(id)).toBe(true);
  });

  it("a remote worker that another node takes over may report a result to the first node, which looks the run up [INV-4]", async () => {
    const [a, b] = [node(), node()];
    const id = await a.remote.register(worker);
    await a.remote.poll(id, nothing);
    await b.remote.poll(id, nothing);
    const runId = await h.run();
    b.gateway.hintAll();
    const { assignments } = await b.remote.poll(id, long);
    const fence = assignments[0]?.fence ?? 0;
    const result = { ...nothing, completions: [success(runId, fence)], held: [held(runId, fence)] };
    expect([...(await a.remote.poll(id, result)).accepted]).toEqual([runId]);
    expect(await statusOf(runId)).toBe("succeeded");
  });
});
