import { randomBytes } from "node:crypto";
import { ManualClock } from "@carillon/core";
import type { Hint, SlotOffer } from "@carillon/store";
import { describe, expect, it } from "vitest";
import type { DirectArrivals, DirectNotice } from "../../../src/dispatch/direct/direct-arrivals.js";
import { DirectChannel } from "../../../src/dispatch/direct/direct-channel.js";
import { NoticeCipher, writeNotice, writeOffer } from "../../../src/dispatch/direct/direct-messages.js";
import { SlotOffers } from "../../../src/enqueue/direct-insert.js";
import { newRun } from "../../harness/new-run.js";

const run = newRun();
const secret = randomBytes(32);
const offerOf = (gatewayId: string): SlotOffer => {
  const place = { lane: run.lane, namespaceId: run.namespaceId, gatewayId, sessionId: "s" };
  return { ...place, limitsRevision: 4, token: "t", count: 9 };
};

/** The channel of a node, which is connected when the test says so. */
function setUp(id = "here") {
  const clock = new ManualClock();
  const offers = new SlotOffers(() => clock.monotonic());
  const sent: { channel: string; hint: Hint; canWait: boolean | undefined }[] = [];
  const listened: { channel: string; receive: (text: string) => void; again: () => void; first: () => void }[] = [];
  const notices: DirectNotice[] = [];
  const local: unknown[] = [];
  const errors: unknown[] = [];
  const seen = { missed: 0, stopped: 0 };
  const arrivals: Pick<DirectArrivals, "expect" | "noticesMissed" | "receive"> = {
    receive: (notice) => void notices.push(notice),
    noticesMissed: () => void seen.missed++,
    expect: (notice) => {
      local.push(["expects", notice]);
      return { stored: (runs) => void local.push(["stored", runs]), failed: () => void local.push(["failed"]) };
    },
  };
  const db = {
    listen(channel: string, receive: (text: string) => void, again: () => void, first: () => void = () => undefined) {
      listened.push({ channel, receive, again, first });
      return { stop: async () => void seen.stopped++ };
    },
    notify: (channel: string, hint: Hint, canWait?: boolean) => void sent.push({ channel, hint, canWait }),
  };
  const direct = new DirectChannel({ db, loopFailed: (_loop, error) => void errors.push(error) }, offers);
  direct.serve({ id, arrivals });
  return { direct, offers, sent, listened, notices, local, errors, seen, arrivals };
}

function connected(id = "here") {
  const parts = setUp(id);
  parts.direct.start(secret);
  const [listening] = parts.listened;
  if (listening === undefined) throw new Error("the channel does not listen");
  listening.first();
  return { ...parts, listening };
}

describe("the direct channel", () => {
  it("listens on a channel of its own node, and writes on those of others", () => {
    const { direct, listened, sent } = connected();
    expect(listened.map(({ channel }) => channel)).toEqual(["carillon_to_here"]);
    direct.sendOffer("there", offerOf("here"));
    expect(sent.map(({ channel }) => channel)).toEqual(["carillon_to_there"]);
    expect(direct.noticeFor(offerOf("there"), 1, [run])).toMatchObject({ channel: "carillon_to_there" });
  });

  it("offers nothing to other nodes before its own channel is connected, and has no address until then", () => {
    const { direct, sent, listened } = setUp();
    direct.sendOffer("there", offerOf("here"));
    direct.start(secret);
    direct.sendOffer("there", offerOf("here"));
    expect([sent, direct.address]).toEqual([[], null]);
    listened[0]?.first();
    direct.sendOffer("there", offerOf("here"));
    expect([sent.length, direct.address]).toEqual([1, "here"]);
  });

  it("offers nothing more when it is stopped", async () => {
    const { direct, sent, seen } = connected();
    await direct.stop();
    direct.sendOffer("there", offerOf("here"));
    expect([sent, direct.address, seen.stopped]).toEqual([[], null, 1]);
  });

  it("carries offers to the other node as they were made, encrypted", () => {
    const [here, there] = [connected(), connected("there")];
    here.direct.sendOffer("there", offerOf("far"));
    const [{ hint, canWait } = { hint: "", canWait: false }] = here.sent;
    expect(canWait).toBe(true);
    expect(hint).toMatch(/^offer [A-Za-z0-9+/]+=*$/);
    there.listening.receive(typeof hint === "string" ? hint : "");
    expect(there.offers.find(run, 9)).toEqual(offerOf("far"));
  });

  it("carries offers within the node by a call, connected or not", () => {
    const { direct, offers, sent } = setUp();
    const own = offerOf("here");
    direct.sendOffer("here", own);
    expect(offers.find(run, 1)).toBe(own);
    expect(sent).toEqual([]);
  });

  it("announces runs for its own workers by a call, before and after they are stored", () => {
    const { direct, local } = connected();
    const delivery = direct.expectLocal(offerOf("here"), [run]);
    const place = { sessionId: "s", lane: run.lane, namespaceId: run.namespaceId };
    expect(local).toEqual([["expects", { from: "here", ...place, ids: [run.id], use: null, runs: null }]]);
    delivery?.stored({ at: 5, fence: 8 });
    expect(local[1]).toMatchObject(["stored", [{ id: run.id, session: "s", fence: 8, runAt: 5 }]]);
    direct.expectLocal(offerOf("here"), [run])?.failed();
    expect(local[3]).toEqual(["failed"]);
  });

  it("assigns local runs as they were when they were stored, even if the caller changes its objects later", () => {
    const { direct, local } = connected();
    const payload = { step: 1 };
    const delivery = direct.expectLocal(offerOf("here"), [newRun({ payload })]);
    payload.step = 2;
    delivery?.stored({ at: 5, fence: 8 });
    expect(local[1]).toMatchObject(["stored", [{ payload: '{"step":1}' }]]);
  });

  it("announces no run by a call when its worker is another node's", () => {
    const { direct, local } = connected();
    expect([direct.expectLocal(offerOf("there"), [run]), local]).toEqual([null, []]);
  });

  it("receives runs for its workers with the storing node, the use of the offer and the time", () => {
    const [here, there] = [connected(), connected("there")];
    const notice = here.direct.noticeFor(offerOf("there"), 6, [run]);
    there.listening.receive(`runs 5 8 ${notice?.payload}`);
    const use = { token: "t", number: 6, at: 5 };
    const runs = [{ id: run.id, fence: 8, runAt: 5 }];
    expect(there.notices).toMatchObject([{ from: "here", sessionId: "s", ids: [run.id], use, runs }]);
  });

  it("writes notices that NOTIFY accepts for any payload", () => {
    const { direct } = connected();
    const payloads = ["a".repeat(5_000), "a".repeat(8_000), "日".repeat(1_800)];
    for (const payload of payloads) {
      const notice = direct.noticeFor(offerOf("there"), 1, [newRun({ payload })]);
      expect(`runs 1700000000123 ${Number.MAX_SAFE_INTEGER} ${notice?.payload}`.length).toBeLessThan(8_000);
    }
  });

  it("writes no notice of too many runs, nor before it knows the secret", () => {
    const runs = Array.from({ length: 1_000 }, () => run);
    expect(connected().direct.noticeFor(offerOf("there"), 1, runs)).toBeNull();
    expect(setUp().direct.noticeFor(offerOf("there"), 1, [run])).toBeNull();
  });

  it("reports that notices may have been missed after each reconnect, and not at first", () => {
    const { listening, seen } = connected();
    expect(seen.missed).toBe(0);
    listening.again();
    listening.again();
    expect(seen.missed).toBe(2);
  });
});

describe("a message on a node's direct channel", () => {
  const channel = "carillon_to_here";
  const offer = writeOffer(offerOf("far"));
  const notice = writeNotice("far", offerOf("here"), 1, [run]) ?? "";
  const encrypted = (text: string, to = channel, by = secret) => new NoticeCipher(by).encrypt(to, text);

  it.each([
    ["nothing", ""],
    ["an unknown kind", "something 1"],
    ["no content", "offer"],
    ["no content of runs", "runs 5 8"],
    ["garbage", "offer \u0000 ä"],
    ["garbage of runs", "runs x 8 AAAA"],
    ["an offer in plain text", `offer ${offer}`],
    ["runs in plain text", `runs 5 8 ${notice}`],
    ["plain text that is only written otherwise", `runs 5 8 ${Buffer.from(notice).toString("base64")}`],
    ["an offer by another secret", `offer ${encrypted(offer, channel, randomBytes(32))}`],
    ["runs by another secret", `runs 5 8 ${encrypted(notice, channel, randomBytes(32))}`],
    ["a message for another node", `runs 5 8 ${encrypted(notice, "carillon_to_there")}`],
    ["an offer of another version", `offer ${encrypted(JSON.stringify([1, offerOf("far")]))}`],
    ["runs of another version", `runs 5 8 ${encrypted(JSON.stringify([1, "far", {}]))}`],
    ["runs without a fence", `runs 5 ${encrypted(notice)}`],
    ["runs with a fence that is no number", `runs 5 x ${encrypted(notice)}`],
    ["another kind of text", `other ${encrypted(offer)}`],
  ])("is ignored: %s", (_what, text) => {
    const { listening, notices, offers, errors } = connected();
    listening.receive(text);
    expect([notices, offers.find(run, 1), errors]).toEqual([[], null, []]);
  });

  it("is received if it is encrypted for the channel", () => {
    const { listening, notices, offers, errors } = connected();
    listening.receive(`offer ${encrypted(offer)}`);
    listening.receive(`runs 5 8 ${encrypted(notice)}`);
    expect([notices.length, offers.find(run, 1), errors]).toEqual([1, offerOf("far"), []]);
  });

  it.each(["", "{}", "null", "[2]", "[2,", JSON.stringify([2, "far", "s", 7, 1, "t", 1, null])])(
    "is reported as an error, not thrown, when it is encrypted and no notice: %s",
    (text) => {
      const { listening, notices, errors } = connected();
      expect(() => listening.receive(`runs 5 8 ${encrypted(text)}`)).not.toThrow();
      expect([notices.length, errors.length]).toEqual([0, 1]);
    },
  );

  it("is reported as an error, not thrown, when the gateway fails with it, and the next one is received", () => {
    const { listening, notices, errors, arrivals } = connected();
    const { receive } = arrivals;
    arrivals.receive = () => {
      throw new Error("the handler failed");
    };
    expect(() => listening.receive(`runs 5 8 ${encrypted(notice)}`)).not.toThrow();
    expect(errors).toEqual([new Error("the handler failed")]);
    arrivals.receive = receive;
    listening.receive(`runs 5 8 ${encrypted(notice)}`);
    expect(notices).toHaveLength(1);
  });
});
