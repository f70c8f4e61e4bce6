import { JsonText } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { handedRun, offerOf, textOfOffer, textOfWord, wordOf } from "../../../src/dispatch/direct/direct-messages.js";
import { jsonParam, type NewRun, type Offer } from "@carillon/store";
import { newRun } from "../../harness/new-run.js";

const place = { sessionId: "s", lane: 7, namespaceId: 1 };
const offer: Offer = { ...place, gatewayId: "g", limitsRevision: 0, token: "t", count: 9 };
const at = 1_700_000_000_123;
const mostBytes = 5_900;

const textOf = (runs: readonly NewRun[]): string => textOfWord("here", offer, 3, runs) ?? "";
const wordAbout = (runs: readonly NewRun[]) => wordOf(textOf(runs), at);

describe("what a gateway is told of runs that were stored for its worker", () => {
  it.each([
    ["nothing", null],
    ["nothing at all", undefined],
    ["quotes and backslashes", { 'a "b"': "\\ ' \" \n" }],
    ["letters of all kinds", ["ä", "日本", "🔔", "\u2028"]],
    ["a text that looks like the message", "runs 5 [1]"],
    ["numbers", [0, -1.5, 1e300]],
    ["JSON as it came", new JsonText('{"a": 1.0}')],
    ["what PostgreSQL cannot hold", "a\u0000b \ud800"],
  ])("says the same as who stored them: %s", (_what, payload) => {
    const policy = { retry: { maxAttempts: 2 } };
    const run = newRun({ payload, policy, rank: -5, priority: 2 });
    const by = { token: "t", number: 3, at };
    const runs = [handedRun({ ...run, payload: jsonParam(payload), session: "s", at })];
    expect(wordAbout([run])).toEqual({ from: "here", ...place, ids: [run.id], by, runs });
    expect(runs).toMatchObject([{ session: "s", runAt: at, policy, rank: -5, priority: 2 }]);
  });

  it("has payloads as they are stored", () => {
    const runs = [null, "a\u0000b", { b: [1] }].map((payload) => newRun({ payload }));
    expect(wordAbout(runs)?.runs?.map((run) => run.payload)).toEqual(["null", '"a\\ufffdb"', '{"b":[1]}']);
  });

  it("names each run by its first claim, and nothing is spent of it", () => {
    const word = wordAbout([1, 2, 3].map((rank) => newRun({ id: `id-${rank}`, rank })));
    const first = { fence: 1, spent: 0, losses: 0, isBegun: false, isStopped: false, deadline: null, policy: {} };
    expect(word?.ids).toEqual(["id-1", "id-2", "id-3"]);
    expect(word?.runs).toMatchObject(
      [1, 2, 3].map((rank) => ({ ...first, id: `id-${rank}`, jobId: `id-${rank}`, rank })),
    );
  });

  it.each([
    ["letters of one byte", "a", 1],
    ["letters of three bytes", "日", 3],
  ])("is too long by its bytes, not by its letters; then it has the ids alone: %s", (_what, letter, bytes) => {
    const empty = Buffer.byteLength(textOf([newRun({ payload: "" })]));
    const most = Math.floor((mostBytes - empty) / bytes);
    const [fits, long] = [most, most + 1].map((letters) => textOf([newRun({ payload: letter.repeat(letters) })]));
    expect(Buffer.byteLength(fits ?? "")).toBeGreaterThan(mostBytes - bytes);
    expect(wordOf(fits ?? "", at)?.runs).toHaveLength(1);
    const by = { token: "t", number: 3, at };
    expect(wordOf(long ?? "", at)).toEqual({ from: "here", ...place, ids: [newRun().id], by, runs: null });
  });

  it("is too long for many runs, also with their ids alone", () => {
    const manyRuns = (count: number) => Array.from({ length: count }, (_, rank) => newRun({ rank }));
    expect(wordAbout(manyRuns(140))).toMatchObject({ runs: null, ids: { length: 140 } });
    expect(textOfWord("here", offer, 3, manyRuns(1_000))).toBeNull();
  });

  it("is not read when it is of another version", () => {
    const [version, ...rest] = JSON.parse(textOf([newRun()])) as unknown[];
    expect(wordOf(JSON.stringify([version, ...rest]), at)).not.toBeNull();
    expect(wordOf(JSON.stringify([2, ...rest]), at)).toBeNull();
    expect(wordOf(JSON.stringify([2, { other: "form" }]), at)).toBeNull();
  });
});

describe("an offer", () => {
  it("is read as it was made, if it is of this version", () => {
    expect(offerOf(textOfOffer(offer))).toEqual(offer);
    expect(offerOf(JSON.stringify([2, offer]))).toBeNull();
  });
});
