import { describe, expect, it } from "vitest";
import { answerCronLine } from "../../../src/index.js";

function answer(question: unknown, defaultFrom?: number): unknown {
  return JSON.parse(answerCronLine(JSON.stringify(question), defaultFrom));
}

const FROM = "2026-02-10T00:00:00Z";

describe("a line with a cron question gets a line with an answer", () => {
  it("answers a line with the fires strictly after from, in UTC", () => {
    const line = '{"expr":"0 0 1,31 * *","tz":"UTC","from":"2026-02-10T00:00:00Z","count":2}';
    expect(answerCronLine(line)).toBe('{"next":["2026-03-01T00:00:00.000Z","2026-03-31T00:00:00.000Z"]}');
  });

  it("answers with one fire in UTC by default", () => {
    expect(answer({ expr: "0 9 * * *", from: FROM })).toEqual({ next: ["2026-02-10T09:00:00.000Z"] });
    expect(answer({ expr: "0 9 * * *", from: FROM, tz: "Asia/Kolkata" })).toEqual({
      next: ["2026-02-10T03:30:00.000Z"],
    });
  });

  it("accepts a timestamp with an offset and a fraction", () => {
    expect(answer({ expr: "0 * * * *", from: "2026-02-10t05:29:59.999999+05:30" })).toEqual({
      next: ["2026-02-10T00:00:00.000Z"],
    });
    expect(answer({ expr: "0 * * * *", from: "2026-02-10T00:00:00.000000001Z" })).toEqual({
      next: ["2026-02-10T01:00:00.000Z"],
    });
  });

  it("starts at the default instant if from is missing", () => {
    expect(answer({ expr: "0 9 * * *" }, Date.parse(FROM))).toEqual({ next: ["2026-02-10T09:00:00.000Z"] });
  });

  it("applies day_match and dst", () => {
    expect(answer({ expr: "0 0 13 * FRI", from: "2026-02-14T00:00:00Z", day_match: "and" })).toEqual({
      next: ["2026-03-13T00:00:00.000Z"],
    });
    const question = { expr: "30 2 * * *", tz: "America/New_York", from: "2026-03-07T12:00:00Z" };
    expect(answer(question)).toEqual({ next: ["2026-03-08T07:00:00.000Z"] });
    expect(answer({ ...question, dst: { gap: "skip" } })).toEqual({ next: ["2026-03-09T06:30:00.000Z"] });
  });

  it.each([
    ["0 0 L-3W * *", ["2026-02-25T00:00:00.000Z", "2026-03-27T00:00:00.000Z"]],
    ["0 0 * * MON-FRI#1", ["2026-03-02T00:00:00.000Z", "2026-03-03T00:00:00.000Z"]],
    ["0 0 * * 1-5L", ["2026-02-23T00:00:00.000Z", "2026-02-24T00:00:00.000Z"]],
    ["0 0 * * FRI#2-3", ["2026-02-13T00:00:00.000Z", "2026-02-20T00:00:00.000Z"]],
    ["0 0 * * FRI#L", ["2026-02-27T00:00:00.000Z", "2026-03-27T00:00:00.000Z"]],
  ])("answers with the next fires of %s", (expr, next) => {
    expect(answer({ expr, from: FROM, count: 2 })).toEqual({ next });
  });

  it("lists fewer fires than requested if they end", () => {
    const last = "9999-12-31T22:30:00Z";
    expect(answer({ expr: "0 * * * *", from: last, count: 5 })).toEqual({ next: ["9999-12-31T23:00:00.000Z"] });
  });
});

describe("a line that cannot be answered gets an error, never a throw", () => {
  it.each([
    ["", "bad_request", /^The line is not JSON; /],
    ["{", "bad_request", /^The line is not JSON; /],
    ["[]", "bad_request", /^The line is not a JSON object\.$/],
    ["null", "bad_request", /^The line is not a JSON object\.$/],
    ['"0 0 * * *"', "bad_request", /^The line is not a JSON object\.$/],
    ["{}", "bad_request", /^Field expr is missing; /],
    ['{"expr":5}', "bad_request", /^Field expr is not a string\.$/],
    ['{"expr":"* * * * *"}', "bad_request", /^Field from is missing; /],
    ['{"expr":"* * * * *","from":7}', "bad_request", /^Field from is not a string\.$/],
    ['{"expr":"* * * * *","from":"tomorrow"}', "bad_request", /^Field from "tomorrow" is not an RFC 3339 timestamp; /],
    ['{"expr":"* * * * *","from":"2026-02-30T00:00:00Z"}', "bad_request", /is not an RFC 3339 timestamp/],
    ['{"expr":"* * * * *","from":"2026-02-10T00:00:00"}', "bad_request", /is not an RFC 3339 timestamp/],
    ['{"expr":"* * * * *","from":"2026-02-10T24:00:00Z"}', "bad_request", /is not an RFC 3339 timestamp/],
    ['{"expr":"* * * * *","from":"2026-02-10","count":1}', "bad_request", /is not an RFC 3339 timestamp/],
    [
      `{"expr":"* * * * *","from":"${FROM}","count":0}`,
      "bad_request",
      /^Field count is not a whole number from 1 to 1000\.$/,
    ],
    [`{"expr":"* * * * *","from":"${FROM}","count":1001}`, "bad_request", /^Field count is not/],
    [`{"expr":"* * * * *","from":"${FROM}","count":1.5}`, "bad_request", /^Field count is not/],
    [`{"expr":"* * * * *","from":"${FROM}","count":"2"}`, "bad_request", /^Field count is not/],
    [`{"expr":"* * * * *","from":"${FROM}","tz":null}`, "bad_request", /^Field tz is not a string\.$/],
    [`{"expr":"* * * * *","from":"${FROM}","tz":"+05:30"}`, "time_zone_unknown", /is an offset/],
    [
      `{"expr":"* * * * *","from":"${FROM}","day_match":"xor"}`,
      "bad_request",
      /^Field day_match "xor" is none of or, and\.$/,
    ],
    [`{"expr":"* * * * *","from":"${FROM}","dst":[]}`, "bad_request", /^Field dst is not a JSON object\.$/],
    [`{"expr":"* * * * *","from":"${FROM}","dst":{"gaps":1}}`, "unknown_field", /^Field "gaps" does not exist; /],
    [`{"expr":"* * * * *","from":"${FROM}","timezone":"UTC"}`, "unknown_field", /^Field "timezone" does not exist; /],
    [`{"expr":"* * * * *","from":"${FROM}","__proto__":{}}`, "unknown_field", /^Field "__proto__" does not exist; /],
    [`{"expr":"60 * * * *","from":"${FROM}"}`, "cron_invalid", /^Minute "60": /],
    [`{"expr":"0 0 30 2 *","from":"${FROM}"}`, "cron_never_fires", /^Day-of-month "30" with month "2": /],
  ])("answers the line %s with an error", (line, code, message) => {
    expect(JSON.parse(answerCronLine(line))).toEqual({ error: { code, message: expect.stringMatching(message) } });
  });

  it("writes the answer on one line for any expression", () => {
    const line = answerCronLine(JSON.stringify({ expr: "0 0\n* * *\u2028", from: FROM }));
    expect(line).not.toMatch(/[\r\n]/);
    expect(JSON.parse(line)).toHaveProperty("error.code", "cron_invalid");
  });
});
