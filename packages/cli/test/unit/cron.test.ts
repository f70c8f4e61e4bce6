import { describe, expect, it } from "vitest";
import { runCli } from "../../src/main.js";
import { fakeIo } from "./fake-io.js";

async function run(argv: string[], stdin: Iterable<string> = []) {
  const io = fakeIo({ stdin });
  const code = await runCli(argv, io);
  return { code, out: io.written(), talk: io.said };
}

const question = (expr: string, count = 1) =>
  `${JSON.stringify({ expr, tz: "UTC", from: "2026-02-10T00:00:00Z", count })}\n`;

describe("cron next", () => {
  it("cron next prints the next fires in UTC and local time, from now by default", async () => {
    const { code, out } = await run(["cron", "next", "0 9 * * MON", "--tz", "Europe/Paris", "-n", "1"]);
    expect(code).toBe(0);
    expect(out).toBe(
      "UTC                       LOCAL                      NOTE\n" +
        "2026-02-16T08:00:00.000Z  2026-02-16T09:00:00+01:00\n",
    );
  });

  it("cron next marks a fire that a clock change moved", async () => {
    const argv = ["cron", "next", "30 2 * * *", "--tz", "Europe/Paris", "--from", "2026-03-28T12:00:00", "-n", "1"];
    expect((await run(argv)).out).toMatch(
      /2026-03-29T01:00:00.000Z {2}2026-03-29T03:00:00\+02:00 {2}the clocks skip .*02:30/,
    );
  });

  it("cron next prints JSON as one value, or as one line for each fire", async () => {
    const argv = ["cron", "next", "0 0 1,31 * *", "-n", "2"];
    expect(JSON.parse((await run([...argv, "--json"])).out)).toMatchObject({
      next: ["2026-03-01T00:00:00.000Z", "2026-03-31T00:00:00.000Z"],
    });
    const lines = (await run([...argv, "-o", "jsonl"])).out.trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line).at)).toEqual(["2026-03-01T00:00:00.000Z", "2026-03-31T00:00:00.000Z"]);
  });

  it("cron next refuses an invalid expression with exit code 2 and the reason", async () => {
    const { code, out, talk } = await run(["cron", "next", "61 * * * *"]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(talk.join()).toContain("61 is out of range");
  });
});

describe("cron next -", () => {
  it("cron next - answers each line of standard input on one line, in order, also invalid ones", async () => {
    const lines = [question("0 0 1,31 * *", 2), "nonsense\n", question("@hourly")];
    const { code, out } = await run(["cron", "next", "-"], lines);
    expect(code).toBe(0);
    const answers = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(answers).toEqual([
      { next: ["2026-03-01T00:00:00.000Z", "2026-03-31T00:00:00.000Z"] },
      { error: { code: expect.any(String), message: expect.any(String) } },
      { next: ["2026-02-10T01:00:00.000Z"] },
    ]);
  });

  it("cron next - accepts chunks that break anywhere, and a missing end of line", async () => {
    const text = (question("@daily") + question("@hourly")).trimEnd();
    const whole = await run(["cron", "next", "-"], [text]);
    const split = await run(["cron", "next", "-"], text.split(""));
    expect(split.out).toBe(whole.out);
    expect(whole.out.split("\n")).toHaveLength(3);
  });

  it("cron next - prints nothing for empty input", async () => {
    expect(await run(["cron", "next", "-"], [])).toEqual({ code: 0, out: "", talk: [] });
  });
});

describe("cron explain and validate", () => {
  it("cron explain describes an expression in words, with the next fires", async () => {
    const { code, out } = await run(["cron", "explain", "*/15 * * * *"]);
    expect(code).toBe(0);
    expect(out).toMatch(/every 15 minutes/i);
    expect(out).toContain("2026-02-10T00:15:00.000Z");
  });

  it("cron validate ends with 0 for a valid expression and with 1 for an invalid one", async () => {
    expect(await run(["cron", "validate", "@daily"])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^valid: /),
    });
    const refused = await run(["cron", "validate", "0 0 30 2 *", "--json"]);
    expect(refused.code).toBe(1);
    expect(JSON.parse(refused.out)).toMatchObject({ valid: false, error: { code: "cron_never_fires" } });
  });
});

describe("calendar check", () => {
  it("calendar check prints the days of a year, or the problems", async () => {
    const good = ['{"name":"x","rules":[{"dates":["12-25"]}]}'];
    const { code, out } = await run(["calendar", "check", "-", "--year", "2026"], good);
    expect({ code, line: out.split("\n")[1] }).toMatchObject({
      code: 0,
      line: expect.stringMatching(/^2026-12-25 {2}Fri/),
    });
    const bad = await run(["calendar", "check", "-"], ['{"rules":[]}']);
    expect(bad.code).toBe(1);
    expect(bad.out).toContain("/rules: ");
    expect((await run(["calendar", "check", "-"], ['{"name":"a b","rules":[]}'])).out).toContain("/name: ");
  });

  it("calendar check accepts what calendar apply accepts: rules without a name", async () => {
    const { code } = await run(["calendar", "check", "-"], ['{"rules":[{"weekdays":["SAT"]}]}']);
    expect(code).toBe(0);
  });
});
