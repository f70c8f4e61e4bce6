import { randomBytes } from "node:crypto";
import { ManualClock } from "@carillon/core";
import { describe, expect, it } from "vitest";
import type { HandedArrivals, HandedWord } from "../../../src/dispatch/direct/direct-arrivals.js";
import { Offers } from "../../../src/enqueue/slot-offers.js";
import { HandOverLine } from "../../../src/dispatch/direct/direct-channel.js";
import { textOfOffer, textOfWord } from "../../../src/dispatch/direct/direct-messages.js";
import { Seal } from "../../../src/dispatch/direct/notice-cipher.js";
import type { Hint, Offer } from "@carillon/store";
import { newRun } from "../../harness/new-run.js";

const run = newRun();
const secret = randomBytes(32);
const offerOf = (gatewayId: string): Offer => {
  const place = { lane: run.lane, namespaceId: run.namespaceId, gatewayId, sessionId: "s" };
  return { ...place, limitsRevision: 4, token: "t", count: 9 };
};

/** The line of a node, which is heard when the test says so. */
function setUp(id = "here") {
  const clock = new ManualClock();
  const offers = new Offers(() => clock.monotonic());
  const sent: { channel: string; hint: Hint; canWait: boolean | undefined }[] = [];
  const listened: { channel: string; tell: (text: string) => void; again: () => void; first: () => void }[] = [];
  const words: HandedWord[] = [];
  const local: unknown[] = [];
  const errors: unknown[] = [];
  const seen = { missed: 0, stopped: 0 };
  const handed = {
    told: (word) => void words.push(word),
    missed: () => void seen.missed++,
    expect: (word) => {
      local.push(["expects", word]);
      return { came: (runs) => void local.push(["came", runs]), failed: () => void local.push(["failed"]) };
    },
  } as Partial<HandedArrivals> as HandedArrivals;
  const line = new HandOverLine({
    database: {
      listen(channel, tell, again, first = () => undefined) {
        listened.push({ channel, tell, again, first });
        return { stop: async () => void seen.stopped++ };
      },
      notify: (channel, hint, canWait) => void sent.push({ channel, hint, canWait }),
    },
    gateway: () => ({ id, handed }),
    offers,
    onError: (error) => void errors.push(error),
  });
  return { line, offers, sent, listened, words, local, errors, seen, handed };
}

function heard(id = "here") {
  const parts = setUp(id);
  parts.line.start(secret);
  const [listening] = parts.listened;
  if (listening === undefined) throw new Error("nobody listens");
  listening.first();
  return { ...parts, listening };
}

describe("the line between who offers and who stores", () => {
  it("is a channel of each node", () => {
    const { line, listened, sent } = heard();
    expect(listened.map(({ channel }) => channel)).toEqual(["carillon_to_here"]);
    line.send("there", offerOf("here"));
    expect(sent.map(({ channel }) => channel)).toEqual(["carillon_to_there"]);
    expect(line.noticeOf(offerOf("there"), 1, [run])).toMatchObject({ channel: "carillon_to_there" });
  });

  it("offers nothing to other nodes before its own channel is heard, and says nowhere that it is reached", () => {
    const { line, sent, listened } = setUp();
    line.send("there", offerOf("here"));
    line.start(secret);
    line.send("there", offerOf("here"));
    expect([sent, line.address]).toEqual([[], null]);
    listened[0]?.first();
    line.send("there", offerOf("here"));
    expect([sent.length, line.address]).toEqual([1, "here"]);
  });

  it("offers nothing more when it is stopped", async () => {
    const { line, sent, seen } = heard();
    await line.stop();
    line.send("there", offerOf("here"));
    expect([sent, line.address, seen.stopped]).toEqual([[], null, 1]);
  });

  it("carries offers to the other node as they were made, and nobody else can read them", () => {
    const [here, there] = [heard(), heard("there")];
    here.line.send("there", offerOf("far"));
    const [{ hint, canWait } = { hint: "", canWait: false }] = here.sent;
    expect(canWait).toBe(true);
    expect(hint).toMatch(/^offer [A-Za-z0-9+/]+=*$/);
    there.listening.tell(typeof hint === "string" ? hint : "");
    expect(there.offers.find(run, 9)).toEqual(offerOf("far"));
  });

  it("carries offers within the node by a call, heard or not", () => {
    const { line, offers, sent } = setUp();
    const own = offerOf("here");
    line.send("here", own);
    expect(offers.find(run, 1)).toBe(own);
    expect(sent).toEqual([]);
  });

  it("tells of runs for its own workers by a call, before and with when they were stored", () => {
    const { line, local } = heard();
    const arrival = line.arrivalOf(offerOf("here"), [run]);
    const place = { sessionId: "s", lane: run.lane, namespaceId: run.namespaceId };
    expect(local).toEqual([["expects", { from: "here", ...place, ids: [run.id], by: null, runs: null }]]);
    arrival?.came(5);
    expect(local[1]).toMatchObject(["came", [{ id: run.id, session: "s", fence: 1, runAt: 5 }]]);
    line.arrivalOf(offerOf("here"), [run])?.failed();
    expect(local[3]).toEqual(["failed"]);
  });

  it("tells of such runs as they were when they were stored, whatever is made of them since", () => {
    const { line, local } = heard();
    const payload = { step: 1 };
    const arrival = line.arrivalOf(offerOf("here"), [newRun({ payload })]);
    payload.step = 2;
    arrival?.came(5);
    expect(local[1]).toMatchObject(["came", [{ payload: '{"step":1}' }]]);
  });

  it("tells of no run by a call when its worker is another node's", () => {
    const { line, local } = heard();
    expect([line.arrivalOf(offerOf("there"), [run]), local]).toEqual([null, []]);
  });

  it("hears of runs for its workers: who stored them, by which offer, and when", () => {
    const [here, there] = [heard(), heard("there")];
    const notice = here.line.noticeOf(offerOf("there"), 6, [run]);
    there.listening.tell(`runs 5 ${notice?.payload}`);
    const by = { token: "t", number: 6, at: 5 };
    const runs = [{ id: run.id, fence: 1, runAt: 5 }];
    expect(there.words).toMatchObject([{ from: "here", sessionId: "s", ids: [run.id], by, runs }]);
  });

  it("has notices that the database takes, whatever is in them", () => {
    const { line } = heard();
    const payloads = ["a".repeat(5_000), "a".repeat(8_000), "日".repeat(1_800)];
    for (const payload of payloads) {
      const notice = line.noticeOf(offerOf("there"), 1, [newRun({ payload })]);
      expect(`runs 1700000000123 ${notice?.payload}`.length).toBeLessThan(8_000);
    }
  });

  it("says when there is too much to tell, and tells nothing before it knows the secret", () => {
    const runs = Array.from({ length: 1_000 }, () => run);
    expect(heard().line.noticeOf(offerOf("there"), 1, runs)).toBeNull();
    expect(setUp().line.noticeOf(offerOf("there"), 1, [run])).toBeNull();
  });

  it("says that runs may have been missed each time that it was away, and not at first", () => {
    const { listening, seen } = heard();
    expect(seen.missed).toBe(0);
    listening.again();
    listening.again();
    expect(seen.missed).toBe(2);
  });
});

describe("what others write on a node's channel", () => {
  const channel = "carillon_to_here";
  const offer = textOfOffer(offerOf("far"));
  const word = textOfWord("far", offerOf("here"), 1, [run]) ?? "";
  const sealed = (text: string, to = channel, by = secret) => new Seal(by).close(to, text);

  it.each([
    ["nothing", ""],
    ["another word", "something 1"],
    ["no content", "offer"],
    ["no content of runs", "runs 5"],
    ["garbage", "offer \u0000 ä"],
    ["garbage of runs", "runs x AAAA"],
    ["an offer in plain text", `offer ${offer}`],
    ["runs in plain text", `runs 5 ${word}`],
    ["plain text that is only written otherwise", `runs 5 ${Buffer.from(word).toString("base64")}`],
    ["an offer by another secret", `offer ${sealed(offer, channel, randomBytes(32))}`],
    ["runs by another secret", `runs 5 ${sealed(word, channel, randomBytes(32))}`],
    ["what was said to somebody else", `runs 5 ${sealed(word, "carillon_to_there")}`],
    ["an offer of another version", `offer ${sealed(JSON.stringify([2, offerOf("far")]))}`],
    ["runs of another version", `runs 5 ${sealed(JSON.stringify([2, "far", {}]))}`],
    ["another kind of text", `other ${sealed(offer)}`],
  ])("is left alone: %s", (_what, text) => {
    const { listening, words, offers, errors } = heard();
    listening.tell(text);
    expect([words, offers.find(run, 1), errors]).toEqual([[], null, []]);
  });

  it("is heard if it is sealed for it", () => {
    const { listening, words, offers, errors } = heard();
    listening.tell(`offer ${sealed(offer)}`);
    listening.tell(`runs 5 ${sealed(word)}`);
    expect([words.length, offers.find(run, 1), errors]).toEqual([1, offerOf("far"), []]);
  });

  it.each(["", "{}", "null", "[1]", "[1,", JSON.stringify([1, "far", "s", 7, 1, "t", 1, null])])(
    "is told as an error and not thrown when it is sealed and no word: %s",
    (text) => {
      const { listening, words, errors } = heard();
      expect(() => listening.tell(`runs 5 ${sealed(text)}`)).not.toThrow();
      expect([words.length, errors.length]).toEqual([0, 1]);
    },
  );

  it("is told as an error and not thrown when the gateway fails with it; the next word is heard", () => {
    const { listening, words, errors, handed } = heard();
    const { told } = handed;
    handed.told = () => {
      throw new Error("the handler failed");
    };
    expect(() => listening.tell(`runs 5 ${sealed(word)}`)).not.toThrow();
    expect(errors).toEqual([new Error("the handler failed")]);
    handed.told = told;
    listening.tell(`runs 5 ${sealed(word)}`);
    expect(words).toHaveLength(1);
  });
});
