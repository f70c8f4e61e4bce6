import { basename } from "node:path";
import { text } from "node:stream/consumers";
import type { Calendar, CalendarPut } from "@carillon/contract";
import { type CalendarCheck, checkCalendar } from "@carillon/core";
import { type Commands, type CommandSpec, numberOption, requiredArg } from "../command.js";
import { ExitCode } from "../exit-codes.js";
import { readFileText, wholeNumber } from "../flags.js";
import { type Column, outputForm, renderFields, renderJson, renderTable, withOutputForm } from "../output.js";
import { shellWord } from "../undo.js";
import { applyCommand, deleteCommand, getCommand, listCommand, type Resource } from "../verbs.js";

const columns: readonly Column<Calendar>[] = [
  { title: "NAME", value: ({ name }) => name },
  { title: "VERSION", value: ({ version }) => String(version), align: "right" },
  { title: "RULES", value: ({ rules }) => String(rules.length), align: "right" },
  { title: "CREATED", value: (one) => one.created_at },
];

const calendar: Resource<Calendar> = {
  argument: "<calendar>",
  argumentHelp: "its name",
  get: (client, name) => client.calendars.get(name),
  render: ({ name, version, rules }) =>
    renderFields([["name", name], ["version", String(version)], ...rules.map((rule) => ["days", rule] as const)]),
};

/** The command that stores it as it is now. */
const restore = ({ name, rules }: Calendar): string =>
  `calendar apply ${shellWord(name)} ${shellWord(JSON.stringify({ rules }))}`;

const dayColumns: readonly Column<CalendarCheck["days"][number]>[] = [
  { title: "DATE", value: ({ date }) => date },
  { title: "DAY", value: ({ weekday }) => weekday },
  { title: "REASON", value: ({ reason }) => reason },
];

const check: CommandSpec = {
  summary: "check a calendar in a file and show its days, offline",
  define: (target) =>
    withOutputForm(
      target
        .argument("<file>", "a calendar as JSON; - reads standard input")
        .option("--year <number>", "whose days to show (default: this year)", wholeNumber(1970, 9998)),
    ),
  notes: "Exit code 0 if it is valid, 1 if not.",
  examples: [
    "carillon calendar check closed-days.json --year 2030",
    `echo '{"name":"weekends","rules":[{"weekdays":["SAT","SUN"]}]}' | carillon calendar check -`,
  ],
  async run(io, invocation) {
    const path = requiredArg(invocation, 0);
    const year = numberOption(invocation, "year") ?? new Date(io.now()).getUTCFullYear();
    const checked = await checkWithHolidays(
      withName(await (path === "-" ? text(io.stdin) : readFileText(path)), path),
      year,
    );
    const form = outputForm(invocation);
    if (form !== "table") await io.out(renderJson(checked, form));
    else if (checked.problems.length > 0) await io.out(checked.problems.map(problemLine).join(""));
    else await io.out(renderTable(dayColumns, checked.days));
    return checked.problems.length > 0 ? ExitCode.failure : ExitCode.ok;
  },
};

export const calendarCommands: Commands = {
  check,
  list: listCommand({
    summary: "list stored calendars",
    rows: "calendars",
    columns,
    page: ({ client }, query) => client.calendars.list(query),
    examples: ["carillon calendar list"],
  }),
  get: getCommand(calendar, { summary: "show one calendar", examples: ["carillon calendar get closed-days"] }),
  apply: applyCommand<Calendar, CalendarPut>(calendar, {
    summary: "create or replace a calendar",
    noun: "calendar",
    documentHelp: "its rules",
    notes: "Jobs that name the calendar follow at once.",
    examples: [
      `carillon calendar apply weekends '{"rules":[{"weekdays":["SAT","SUN"]}]}'`,
      "carillon calendar apply closed-days @closed-days.json",
    ],
    put: ({ client, name }, body, before) =>
      client.calendars.put(name, body, before === null ? {} : { ifVersion: before.version }),
    restore,
  }),
  delete: deleteCommand(calendar, {
    summary: "delete a calendar",
    notes: "The server refuses to delete a calendar that jobs use.",
    examples: ["carillon calendar delete closed-days"],
    remove: ({ client }, { name, version }) => client.calendars.delete(name, { ifVersion: version }),
    undo: restore,
  }),
};

/** The engine has the public holidays; it is loaded only for calendars that name some. */
async function checkWithHolidays(source: string, year: number): Promise<CalendarCheck> {
  const checked = checkCalendar(source, { year });
  if (!checked.problems.some(({ code }) => code === "calendar_holidays_unavailable")) return checked;
  const { loadHolidays } = await import("@carillon/engine");
  return checkCalendar(source, { year, holidays: loadHolidays() });
}

/** A stored calendar has a name; a file without one is checked under the name of the file. */
function withName(source: string, path: string): string {
  try {
    const value: unknown = JSON.parse(source);
    if (typeof value !== "object" || value === null || Array.isArray(value) || "name" in value) return source;
    const name = basename(path).replaceAll(/[^A-Za-z0-9._-]+/g, "-");
    return JSON.stringify({ name: /[A-Za-z0-9]/.test(name) ? name : "calendar", ...value });
  } catch {
    return source;
  }
}

const problemLine = ({ pointer, detail }: CalendarCheck["problems"][number]): string =>
  `${pointer === "" ? "" : `${pointer}: `}${detail}\n`;
