import { describe, expect, it } from "vitest";
import { bannedWordsIn, ratchetVerdict } from "../../check/words.mjs";

const wordsIn = (text: string): string[] => bannedWordsIn(text).map(({ word }) => word);

describe("the check for private vocabulary", () => {
  it.each([
    ["Whoever asks is told by somebody, whatever came.", 5],
    ["The next look finds what was left; a full look is seldom.", 4],
    ["It looks at the row and hears of the signs of life.", 3],
    ["Type its rows by hand; each goes by its own word of runs.", 3],
    ["The lane's notebook outlives the patience of the settler.", 4],
    ["// Who fires looks further ahead.", 1],
  ])("finds the banned words of the sentence %j", (text, count) => {
    expect(wordsIn(text)).toHaveLength(count);
  });

  it.each([
    "isToldOf",
    "untilSomebodyWaits",
    "cameFrom",
    "heardAt",
    "mostBytes",
    "longestTextMs",
    "leastChunk",
    "fullLookMs",
    "this.#look(",
    "finished-looks.ts",
    "workerSilenceMs",
    "insertKept",
    "run_later",
    "HandOverLine",
    "handed-arrivals.ts",
    "textOfWord(",
    "this.#owed.get(id)",
    "class Offering {",
    "new Seal(key)",
    "dealPlaces(",
    "lane-spot.js",
    "LineageWatch",
    "FreedLocks",
    "roll.strike(id)",
    "queueBook",
    "announceSettled(",
    "isSuspect = noSuspects",
    "alikeRuns",
    "io.talk(",
    "absence.ts",
    "waits.ts",
    "recalls.js",
    "../after/follower.js",
    "AfterRunner",
    "assignment-of.ts",
    "foreignSpellings",
    "--outbound-allow",
    "CARILLON_DATABASE_WAIT",
    "carillon_runs_waiting_total",
    "interface Following {",
    "new Hints({",
    "constructor(ground: Ground)",
  ])("finds the identifier, file or option %s of the rename table", (text) => {
    expect(wordsIn(text)).not.toEqual([]);
  });

  it.each([
    "chown nobody file; pgbouncer -u nobody",
    'for (const name of ["postgres", "nobody"]) {}',
    '{ name: "nobody", uid: 4_294_967_294 }',
    "the system has no user postgres or nobody, else `nobody`",
    "the ground truth in the background",
    "tells two texts apart that differ in anything",
    "Tells calendars of one name apart",
    "Following logs ends with the run. Failing tests are retried.",
    "foreignKey and foreignCount",
    "job-field-hints.ts, calendar-notes.ts, caller-quota.ts",
    "mostRecentRun is at most mostly idle",
    "Who may read this? Who fires?",
    "for those that look for an end, it looks like one",
    "database_connect_timeout, --outbound-allowlist, outboundAllowlist, --shard-lease",
    "handed off, suspects that the node is dead, health.suspect()",
    "the first word of the line, Promise.allSettled(all)",
    "the next look-up, two lookups, a lookahead",
    "hearty, storyteller, became, unsealable, disowed",
  ])("accepts %j", (text) => {
    expect(wordsIn(text)).toEqual([]);
  });

  it("reports the line, the word and what to write instead", () => {
    expect(bannedWordsIn("fine\nnobody is here")).toEqual([
      { line: 2, word: "nobody", instead: "name the actor: node, worker, caller, session" },
    ]);
  });

  it("fails when the number of words grows, and asks for a lower limit when it shrinks", () => {
    expect(ratchetVerdict(11, 10)).toMatchObject({ isOk: false, message: expect.stringContaining("1 more than") });
    expect(ratchetVerdict(10, 10)).toEqual({ isOk: true, message: "10 banned words" });
    expect(ratchetVerdict(9, 10)).toMatchObject({ isOk: true, message: expect.stringContaining("from 10") });
    expect(ratchetVerdict(1, 0).isOk).toBe(false);
  });
});
