import { JsonText } from "@carillon/core";
import { describe, expect, it } from "vitest";
import {
  toDirectRun,
  readOffer,
  writeOffer,
  writeNotice,
  readNotice,
} from "../../../src/dispatch/direct/direct-messages.js";
import { jsonParam, type NewRun, type SlotOffer } from "@carillon/store";
import { newRun } from "../../harness/new-run.js";

const place = { sessionId: "s", lane: 7, namespaceId: 1 };
const offer: SlotOffer = { ...place, gatewayId: "g", limitsRevision: 0, token: "t", count: 9 };
const [at, fence] = [1_700_000_000_123, 5 * 2 ** 32 + 1];
const maxBytes = 5_900;

const textOf = (runs: readonly NewRun[]): string => writeNotice("here", offer, 3, runs) ?? "";
const noticeOf = (runs: readonly NewRun[]) => readNotice(textOf(runs), { at, fence });

describe("a direct notice as text", () => {
  it.each([
    ["nothing", null],
    ["nothing at all", undefined],
    ["quotes and backslashes", { 'a "b"': "\\ ' \" \n" }],
    ["letters of all kinds", ["ä", "日本", "🔔", "\u2028"]],
    ["a text that looks like the message", "runs 5 [1]"],
    ["numbers", [0, -1.5, 1e300]],
    ["JSON as the caller wrote it", new JsonText('{"a": 1.0}')],
    ["what PostgreSQL cannot hold", "a\u0000b \ud800"],
  ])("has the same runs as the node that stored them: %s", (_what, payload) => {
    const policy = { retry: { maxAttempts: 2 } };
    const run = newRun({ payload, policy, rank: -5, priority: 2 });
    const use = { token: "t", number: 3, at };
    const runs = [toDirectRun({ ...run, payload: jsonParam(payload), session: "s", at, fence })];
    expect(noticeOf([run])).toEqual({ from: "here", ...place, ids: [run.id], use, runs });
    expect(runs).toMatchObject([{ session: "s", runAt: at, policy, rank: -5, priority: 2 }]);
  });

  it("has payloads as they are stored", () => {
    const runs = [null, "a\u0000b", { b: [1] }].map((payload) => newRun({ payload }));
    expect(noticeOf(runs)?.runs?.map((run) => run.payload)).toEqual(["null", '"a\\ufffdb"', '{"b":[1]}']);
  });

  it("has each run under the first claim of its history, with no try spent", () => {
    const notice = noticeOf([1, 2, 3].map((rank) => newRun({ id: `id-${rank}`, rank })));
    const first = { fence, spent: 0, losses: 0, isStarted: false, isStopped: false, deadline: null, policy: {} };
    expect(notice?.ids).toEqual(["id-1", "id-2", "id-3"]);
    expect(notice?.runs).toMatchObject(
      [1, 2, 3].map((rank) => ({ ...first, id: `id-${rank}`, jobId: `id-${rank}`, rank })),
    );
  });

  it.each([
    ["letters of one byte", "a", 1],
    ["letters of three bytes", "日", 3],
  ])("has only ids when it would be too long, in bytes and not in letters: %s", (_what, letter, bytes) => {
    const empty = Buffer.byteLength(textOf([newRun({ payload: "" })]));
    const max = Math.floor((maxBytes - empty) / bytes);
    const [fits, long] = [max, max + 1].map((letters) => textOf([newRun({ payload: letter.repeat(letters) })]));
    expect(Buffer.byteLength(fits ?? "")).toBeGreaterThan(maxBytes - bytes);
    expect(readNotice(fits ?? "", { at, fence })?.runs).toHaveLength(1);
    const use = { token: "t", number: 3, at };
    expect(readNotice(long ?? "", { at, fence })).toEqual({
      from: "here",
      ...place,
      ids: [newRun().id],
      use,
      runs: null,
    });
  });

  it("has only ids of many runs, and is not written for too many", () => {
    const manyRuns = (count: number) => Array.from({ length: count }, (_, rank) => newRun({ rank }));
    expect(noticeOf(manyRuns(140))).toMatchObject({ runs: null, ids: { length: 140 } });
    expect(writeNotice("here", offer, 3, manyRuns(1_000))).toBeNull();
  });

  it("is not read when it has another version", () => {
    const [version, ...rest] = JSON.parse(textOf([newRun()])) as unknown[];
    expect(readNotice(JSON.stringify([version, ...rest]), { at, fence })).not.toBeNull();
    // Version 1: its runs have no fence of their own.
    for (const other of [1, 3]) expect(readNotice(JSON.stringify([other, ...rest]), { at, fence })).toBeNull();
    expect(readNotice(JSON.stringify([3, { other: "form" }]), { at, fence })).toBeNull();
  });
});

describe("a slot offer as text", () => {
  it("is read as it was written, if it has this version", () => {
    expect(readOffer(writeOffer(offer))).toEqual(offer);
    for (const other of [1, 3]) expect(readOffer(JSON.stringify([other, offer]))).toBeNull();
  });
});
