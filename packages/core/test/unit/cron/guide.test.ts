import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { compileCron, type CronOptions, NEVER, parseCron } from "../../../src/index.js";

const guide = readFileSync(new URL("../../../../../docs/guides/schedules.md", import.meta.url), "utf8");

/** The lines of all fenced blocks with a given mark. */
function linesOf(mark: string): string[] {
  const blocks = guide.matchAll(new RegExp(`^\`\`\`${mark}\\n(.*?)^\`\`\`$`, "gms"));
  return [...blocks].flatMap(([, body = ""]) => body.trimEnd().split("\n"));
}

interface Example {
  readonly question: string;
  readonly options: CronOptions;
  readonly expression: string;
  readonly from: string;
  readonly fires: string[];
}

/** `expression | zone | options | from -> fires`, with or without the options. */
function readExample(line: string): Example {
  const [question = "", answer = ""] = line.split(" -> ");
  const cells = question.split("|").map((cell) => cell.trim());
  const [expression = "", timeZone = "", third = "", fourth] = cells;
  const extra = fourth === undefined || third === "" ? {} : (JSON.parse(third) as CronOptions);
  return { question, expression, options: { timeZone, ...extra }, from: fourth ?? third, fires: answer.split(" ") };
}

function messageOf(attempt: () => unknown): string {
  try {
    attempt();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return "accepted";
}

describe("the guide to schedules shows what the code does", () => {
  const examples = linesOf("cron-example").map(readExample);

  it("the guide has examples for the dialect and for clock changes in six zones", () => {
    expect(examples.length).toBeGreaterThan(30);
    expect(new Set(examples.map((example) => example.options.timeZone)).size).toBeGreaterThanOrEqual(7);
  });

  it.each(examples)("computes the fires of the example $question", ({ expression, options, from, fires }) => {
    const cron = compileCron(expression, options);
    let fire = Date.parse(from);
    for (const expected of fires) {
      fire = cron.next(fire);
      expect(fire === NEVER ? "never" : new Date(fire).toISOString().replace(".000Z", "Z")).toBe(expected);
    }
  });

  it.each(linesOf("cron-refused"))("refuses as the guide shows: %s", (line) => {
    const [expression = "", message] = line.split(/ +-> /);
    expect(messageOf(() => parseCron(expression))).toBe(message);
  });
});
