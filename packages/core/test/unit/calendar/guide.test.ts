import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type CalendarRule, compileCalendar, compileSchedule, readCalendar } from "../../../src/index.js";

const guide = readFileSync(new URL("../../../../../docs/guides/calendars.md", import.meta.url), "utf8");

function blocks(mark: string): string[] {
  return [...guide.matchAll(new RegExp(`^\`\`\`${mark}\\n(.*?)^\`\`\`$`, "gms"))].map(([, body = ""]) =>
    body.trimEnd(),
  );
}

const calendars = new Map(
  blocks("calendar").map((text) => {
    const calendar = compileCalendar(readCalendar(JSON.parse(text)));
    return [calendar.name, calendar] as const;
  }),
);

describe("the guide to calendars shows what the code does", () => {
  it("the guide to calendars has a calendar and examples", () => {
    expect([...calendars.keys()]).toEqual(["office"]);
    expect(blocks("calendar-example")).toHaveLength(1);
  });

  it.each(blocks("calendar-example").flatMap((block) => block.split("\n")))(
    "computes the days of the guide's example %s",
    (line) => {
      const [question = "", answer = ""] = line.split(" -> ");
      const [cron = "", timeZone = "", rule = "", from = ""] = question.split("|").map((cell) => cell.trim());
      const spec = { kind: "cron", cron, timeZone, calendars: JSON.parse(rule) as CalendarRule } as const;
      const expected = answer.split(" ");
      const fires = compileSchedule(spec, { jobId: "job", calendars }).between(
        Date.parse(from),
        Infinity,
        expected.length,
      );
      expect(fires.map(({ nominal }) => new Date(nominal).toISOString().replace(".000Z", "Z"))).toEqual(expected);
    },
  );
});
