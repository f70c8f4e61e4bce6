import {
  answerCronLine,
  CarillonError,
  type CronSchedule,
  describeFireNote,
  describeSchedule,
  formatInstant,
  type Instant,
  parseInstant,
  type PreviewedFire,
  previewSchedule,
  requireSchedule,
  type ScheduleContext,
} from "@carillon/core";
import type { Command } from "commander";
import { type Commands, type Invocation, requiredArg, textOption } from "../command.js";
import { ExitCode } from "../exit-codes.js";
import { wholeNumber } from "../flags.js";
import type { Io } from "../io.js";
import { type Column, outputForm, renderJson, renderTable, visibleWarnings, withOutputForm } from "../output.js";

/** Without jitter the id of the job plays no part. */
const noJob: ScheduleContext = { jobId: "" };
const explainedFires = 5;
const defaultCount = 10;
const expressionHelp = "five fields, six with seconds first, or a macro such as @daily";

const withZone = (target: Command): Command => target.option("--tz <zone>", "time zone, as in Europe/Paris", "UTC");

const withZoneAndFrom = (target: Command): Command =>
  withZone(target).option("--from <instant>", "count from here, as in 2030-01-01T00:00:00Z (default: now)");

const zoneOf = (invocation: Invocation): string => textOption(invocation, "tz") ?? "UTC";

/** The schedule on the command line; compiling it validates it. */
function scheduleOf(invocation: Invocation): CronSchedule {
  return { kind: "cron", cron: requiredArg(invocation, 0), timeZone: zoneOf(invocation) };
}

/** --from, a wall time of --tz if it has no offset, or now. */
function fromOf(io: Io, invocation: Invocation): Instant {
  const from = textOption(invocation, "from");
  return from === undefined ? io.now() : parseInstant(from, zoneOf(invocation));
}

const fireColumns: readonly Column<PreviewedFire>[] = [
  { title: "UTC", value: ({ nominal }) => formatInstant(nominal) },
  { title: "LOCAL", value: ({ wallTime }) => wallTime },
  { title: "NOTE", value: ({ notes }) => notes.map(describeFireNote).join("; ") },
];

const fireJson = ({ nominal, wallTime, notes }: PreviewedFire): object => ({
  at: formatInstant(nominal),
  local: wallTime,
  notes: notes.map(describeFireNote),
});

function printWarnings(io: Io, warnings: readonly { readonly code: string; readonly message: string }[]): void {
  for (const { message } of visibleWarnings(warnings)) io.info(`carillon: warning: ${message}`);
}

export const cronCommands: Commands = {
  explain: {
    summary: "say in words when an expression fires",
    define: (target) => withOutputForm(withZoneAndFrom(target.argument("<expression>", expressionHelp))),
    examples: [
      "carillon cron explain '*/15 9-17 * * MON-FRI'",
      "carillon cron explain '30 2 * * *' --tz America/New_York --from 2030-03-09T00:00:00Z",
    ],
    async run(io, invocation) {
      const options = { from: fromOf(io, invocation), count: explainedFires };
      const { description, fires, warnings } = previewSchedule(scheduleOf(invocation), noJob, options);
      const form = outputForm(invocation);
      if (form !== "table") return io.out(renderJson({ description, fires: fires.map(fireJson), warnings }, form));
      await io.out(`${description}\n\n${renderTable(fireColumns, fires)}`);
      printWarnings(io, warnings);
    },
  },
  next: {
    summary: "print the next fires of an expression, or of each on stdin",
    define: (target) =>
      withOutputForm(
        withZoneAndFrom(
          target
            .argument(
              "<expression>",
              "five fields, six with seconds first, or a macro; - answers questions on standard input",
            )
            .option("-n, --count <number>", "how many", wholeNumber(1, 10_000), defaultCount),
        ),
      ),
    notes: `
With - each line of standard input is a question, {"expr", "tz", "from", "count"}, answered on one line with {"next": […]}
or {"error": {"code", "message"}}.`,
    examples: [
      "carillon cron next '0 9 * * MON-FRI' --tz Europe/Paris -n 3",
      `echo '{"expr":"0 0 1,31 * *","from":"2026-02-10T00:00:00Z","count":2}' | carillon cron next -`,
    ],
    async run(io, invocation) {
      if (requiredArg(invocation, 0) === "-") return answerLines(io, (line) => answerCronLine(line, io.now()));
      const count = Number(invocation.options["count"]);
      const options = { from: fromOf(io, invocation), count };
      const { fires, warnings } = previewSchedule(scheduleOf(invocation), noJob, options);
      printWarnings(io, warnings);
      const form = outputForm(invocation);
      if (form === "table") return io.out(renderTable(fireColumns, fires));
      if (form === "jsonl") return io.out(fires.map((fire) => renderJson(fireJson(fire), form)).join(""));
      const next = fires.map(({ nominal }) => formatInstant(nominal));
      await io.out(renderJson({ next, fires: fires.map(fireJson) }, form));
    },
  },
  validate: {
    summary: "check an expression",
    define: (target) => withOutputForm(withZone(target.argument("<expression>", expressionHelp))),
    notes: "Exit code 0 if it is valid, 1 if not.",
    examples: ["carillon cron validate '0 0 30 2 *'"],
    async run(io, invocation) {
      const verdict = validate(scheduleOf(invocation));
      const form = outputForm(invocation);
      if (form !== "table") await io.out(renderJson(verdict, form));
      else if (verdict.error === undefined) await io.out(`valid: ${verdict.description}\n`);
      else await io.out(`not valid: ${verdict.error.message}\n`);
      return verdict.valid ? ExitCode.ok : ExitCode.failure;
    },
  },
};

interface Verdict {
  readonly expression: string;
  readonly valid: boolean;
  readonly description?: string;
  readonly error?: { readonly code: string; readonly message: string };
}

function validate(schedule: CronSchedule): Verdict {
  const expression = schedule.cron;
  try {
    requireSchedule(schedule);
    return { expression, valid: true, description: describeSchedule(schedule) };
  } catch (error) {
    if (!(error instanceof CarillonError)) throw error;
    return { expression, valid: false, error: { code: error.code, message: error.message } };
  }
}

/** Longer than any question: input without line ends must not fill the memory. */
const maxLineLength = 1_000_000;

/** Answers standard input line by line, in order. A slow reader of the answers slows the reading of the questions. */
async function answerLines(io: Io, answer: (line: string) => string): Promise<void> {
  let rest = "";
  io.stdin.setEncoding("utf8");
  for await (const chunk of io.stdin) {
    const lines = (rest + String(chunk)).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > maxLineLength) {
      lines.push(rest);
      rest = "";
    }
    if (lines.length > 0) await io.out(`${lines.map(answer).join("\n")}\n`);
  }
  if (rest !== "") await io.out(`${answer(rest)}\n`);
}
