import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { text } from "node:stream/consumers";
import { type CalendarCheck, checkCalendar } from "@carillon/core";
import { type CommandModule, requiredArg } from "../command.js";
import { CliError, ExitCode } from "../exit-codes.js";
import { wholeNumber } from "../flags.js";
import type { Io } from "../io.js";
import { outputForm, renderJson, withOutputForm } from "../output.js";
import { type Column, renderTable } from "../table.js";

const columns: readonly Column<CalendarCheck["days"][number]>[] = [
  { title: "DATE", value: ({ date }) => date },
  { title: "DAY", value: ({ weekday }) => weekday },
  { title: "REASON", value: ({ reason }) => reason },
];

export const command: CommandModule = {
  define(target) {
    target
      .argument("<file>", "a calendar as JSON; - reads standard input")
      .option("--year <number>", "whose days to show (default: this year)", wholeNumber(1970, 9998));
    withOutputForm(target).addHelpText(
      "after",
      `
Exit code 0 if it is valid, 1 if not.

Examples:
  $ carillon calendar check closed-days.json --year 2030
  $ echo '{"name":"weekends","rules":[{"weekdays":["SAT","SUN"]}]}' | carillon calendar check -`,
    );
  },
  async run(io, invocation) {
    const path = requiredArg(invocation, 0);
    const given = invocation.options["year"];
    const year = typeof given === "number" ? given : new Date(io.now()).getUTCFullYear();
    const check = await checkWithHolidays(named(await source(io, path), path), year);
    const form = outputForm(invocation);
    if (form !== "table") await io.out(renderJson(check, form));
    else if (check.problems.length > 0) await io.out(check.problems.map(problemLine).join(""));
    else await io.out(renderTable(columns, check.days));
    return check.problems.length > 0 ? ExitCode.failure : ExitCode.ok;
  },
};

/** Public holidays come from a package that is loaded only for calendars that ask for them. */
async function checkWithHolidays(calendar: string, year: number): Promise<CalendarCheck> {
  const check = checkCalendar(calendar, { year });
  if (!check.problems.some(({ code }) => code === "calendar_holidays_unavailable")) return check;
  const { loadHolidays } = await import("@carillon/engine");
  return checkCalendar(calendar, { year, holidays: await loadHolidays() });
}

/** Where it is stored it has a name of its own; here that of its file will do. */
function named(given: string, path: string): string {
  try {
    const calendar: unknown = JSON.parse(given);
    if (typeof calendar !== "object" || calendar === null || Array.isArray(calendar) || "name" in calendar)
      return given;
    const name = basename(path).replaceAll(/[^A-Za-z0-9._-]+/g, "-");
    return JSON.stringify({ name: /[A-Za-z0-9]/.test(name) ? name : "calendar", ...calendar });
  } catch {
    return given;
  }
}

const problemLine = ({ pointer, detail }: CalendarCheck["problems"][number]): string =>
  `${pointer === "" ? "" : `${pointer}: `}${detail}\n`;

async function source(io: Io, path: string): Promise<string> {
  if (path === "-") return text(io.stdin);
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new CliError(ExitCode.usage, error instanceof Error ? error.message : String(error));
  }
}
