import type { NoteContent, RunNote } from "@carillon/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Assigned } from "../../../../src/dispatch/sessions/worker-registration.js";
import { SessionLost } from "../../../../src/index.js";
import { type GatewayHarness, gatewayOver } from "../../../harness/gateway-harness.js";
import { type StoreHarness, storeHarness, untilLockWaits } from "../../../harness/store-harness.js";

let h: StoreHarness;
let made: GatewayHarness;
beforeEach(async () => {
  h = await storeHarness();
  made = gatewayOver(h);
});
afterEach(() => {
  made.gateway.stop();
  return h.close();
});

/** A worker with one slot, and the run that it was given. */
async function atWork(id?: string) {
  const runId = id ?? (await h.run());
  let take: (given: readonly Assigned[]) => void = () => undefined;
  const assigned = new Promise<readonly Assigned[]>((resolve) => (take = resolve));
  const session = await made.gateway.open({
    namespace: "default",
    name: "w",
    queues: ["default"],
    tasks: ["echo"],
    slots: 1,
    ahead: 0,
    nodeId: null,
    onAssign: take,
    onStop: () => undefined,
    onLost: () => undefined,
  });
  made.gateway.resume(session);
  made.gateway.hintAll();
  const [run] = await assigned;
  if (run?.runId !== runId) throw new Error("another run was assigned");
  made.gateway.rest(session);
  const notes = (content: NoteContent): RunNote => ({ ...content, runId, fence: run.fence });
  const note = async (...content: NoteContent[]) => made.gateway.note(session, content.map(notes));
  const giveBack = () => made.gateway.giveBack(session, [{ runId, fence: run.fence }]);
  return { session, runId, fence: run.fence, note, giveBack };
}

const checkpoint = (number: number, value: unknown): NoteContent => ({
  kind: "checkpoint",
  number,
  valueJson: JSON.stringify(value),
});
const load: NoteContent = { kind: "checkpoint_load" };
const value = (given: unknown) => ({ kind: "value", valueJson: JSON.stringify(given) });
const begin = (key: string, keepMs = 60_000): NoteContent => ({ kind: "once_begin", key, keepMs });
const end = (key: string, given: unknown): NoteContent => ({
  kind: "once_end",
  key,
  valueJson: JSON.stringify(given),
});
const done = { kind: "done" };

describe("checkpoints", () => {
  it("a checkpoint is kept after its attempt and its worker", async () => {
    const first = await atWork();
    expect(await first.note(load)).toEqual([done]);
    expect(await first.note(checkpoint(1, { row: 7 }))).toEqual([done]);
    await first.giveBack();
    const second = await atWork(first.runId);
    expect(second.session).not.toBe(first.session);
    expect(await second.note(load)).toMatchObject([value({ row: 7 })]);
  });

  it("a checkpoint is kept after the loss of its worker", async () => {
    const first = await atWork();
    await first.note(checkpoint(1, "here"));
    await h.store.sessions.close(first.session);
    await h.store.runs.rescue([first.runId], 3);
    expect(await first.note(checkpoint(2, "late"))).toEqual([{ kind: "lost" }]);
    const second = await atWork(first.runId);
    expect(await second.note(load)).toMatchObject([value("here")]);
  });

  it("a checkpoint is the last one saved, in any order of arrival", async () => {
    const { note } = await atWork();
    await note(checkpoint(2, "newer"));
    expect(await note(checkpoint(1, "older"))).toEqual([done]);
    expect(await note(load)).toMatchObject([value("newer")]);
    expect(await note(checkpoint(3, "a"), checkpoint(4, "b"), checkpoint(4, "b"))).toEqual([done, done, done]);
    expect(await note(load)).toMatchObject([value("b")]);
  });

  it("a checkpoint is refused from an attempt that is over, and the new attempt's stays [INV-2]", async () => {
    const first = await atWork();
    await first.giveBack();
    const second = await atWork(first.runId);
    await second.note(checkpoint(1, "new"));
    expect(await first.note(checkpoint(9, "old"))).toEqual([{ kind: "lost" }]);
    const stale = { session: first.session, id: first.runId, fence: first.fence, number: 9, value: '"old"' };
    expect((await h.store.records.keepCheckpoints([stale])).size).toBe(0);
    expect(await second.note(load)).toMatchObject([value("new")]);
  });

  it("a checkpoint waits for a transaction that takes the run away, and is refused then [INV-2]", async () => {
    const { session, runId: id, fence } = await atWork();
    let late: Promise<ReadonlySet<string>> = Promise.resolve(new Set());
    await h.db.transaction(async (tx) => {
      await tx.query({ text: "update carillon.run set state = 'queued', session_id = null where id = $1" }, [id]);
      late = h.store.records.keepCheckpoints([{ session, id, fence, number: 1, value: "1" }]);
      await untilLockWaits(h);
    });
    expect((await late).size).toBe(0);
    expect((await h.store.records.checkpoints([id])).size).toBe(0);
  });

  it("a checkpoint is refused alone when it is too large or no JSON, and others of its batch are kept", async () => {
    const { note } = await atWork();
    const answers = await note(
      { kind: "checkpoint", number: 1, valueJson: "{" },
      { kind: "step", name: "good", valueJson: "1" },
      { kind: "step", name: "bad", valueJson: "x".repeat(300_000) },
    );
    expect(answers).toMatchObject([{ kind: "refused" }, done, { kind: "refused" }]);
  });

  it("a checkpoint is an error for a session that is gone, so that the worker registers again", async () => {
    const { session, note } = await atWork();
    await made.gateway.close(session);
    await expect(note(load)).rejects.toBeInstanceOf(SessionLost);
  });
});

describe("steps", () => {
  it("a step keeps its first result over attempts", async () => {
    const first = await atWork();
    expect(await first.note({ kind: "step", name: "charge", valueJson: "1" })).toEqual([done]);
    expect(await first.note({ kind: "step", name: "charge", valueJson: "2" })).toEqual([done]);
    await first.giveBack();
    const second = await atWork(first.runId);
    const asked = ["charge", "mail"].map((name): NoteContent => ({ kind: "step_load", name }));
    expect(await second.note(...asked)).toMatchObject([value(1), done]);
  });
});

describe("once blocks", () => {
  it("a once block returns its result to every run after it was executed", async () => {
    const first = await atWork();
    expect(await first.note(begin("k"))).toEqual([done]);
    expect(await first.note(end("k", { sent: true }))).toEqual([done]);
    const second = await atWork();
    expect(await second.note(begin("k"))).toMatchObject([value({ sent: true })]);
  });

  it("a once block is executed by one run at a time, and by another when the claim of the first is over", async () => {
    const first = await atWork();
    await first.note(begin("k"));
    expect(await first.note(begin("k"))).toEqual([done]);
    const second = await atWork();
    expect(await second.note(begin("k"))).toEqual([{ kind: "busy" }]);
    await first.giveBack();
    expect(await second.note(begin("k"))).toEqual([done]);
    expect(await first.note(end("k", "late"))).toEqual([{ kind: "lost" }]);
    expect(await second.note(end("k", "right"))).toEqual([done]);
    expect(await second.note(begin("k"))).toMatchObject([value("right")]);
  });

  it("a once block counts as executed when its run was lost before it could report the end", async () => {
    const first = await atWork();
    await first.note(begin("k"));
    await first.giveBack();
    expect(await first.note(end("k", "sent"))).toEqual([done]);
    const second = await atWork(first.runId);
    expect(await second.note(begin("k"))).toMatchObject([value("sent")]);
  });

  it("a once block is begun by one of many runs that begin it together", async () => {
    const workers = [await atWork(), await atWork(), await atWork()];
    const answers = (await Promise.all(workers.map((one) => one.note(begin("k"))))).flat();
    expect(answers.filter((answer) => answer.kind === "done")).toHaveLength(1);
    expect(answers.filter((answer) => answer.kind === "busy")).toHaveLength(2);
  });

  it("a once block is forgotten after its retention time", async () => {
    const first = await atWork();
    await first.note(begin("k", 1));
    await first.note(end("k", 1));
    await h.db.query({ text: "update carillon.once set expires_at = clock_timestamp() - interval '1 second'" });
    expect(await first.note(begin("k"))).toEqual([done]);
  });
});
