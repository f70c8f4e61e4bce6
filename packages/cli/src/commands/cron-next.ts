import { answerCronLine, formatInstant, previewSchedule } from "@carillon/core";
import { answerLines } from "../answer-lines.js";
import { type CommandModule, type Invocation, requiredArg } from "../command.js";
import { wholeNumber } from "../flags.js";
import { NO_JOB, cronOf, fromOf, withCronFlags } from "../input/cron-flags.js";
import type { Io } from "../io.js";
import { outputForm, renderJson, withOutputForm, visibleWarnings } from "../output.js";
import { fireColumns, fireJson } from "../output/fire-view.js";
import { renderTable } from "../table.js";

const DEFAULT_COUNT = 10;

export const command: CommandModule = {
  define(target) {
    target
      .argument(
        "<expression>",
        "five fields, six with seconds first, or a macro; - answers questions on standard input",
      )
      .option("-n, --count <number>", "how many", wholeNumber(1, 10_000), DEFAULT_COUNT);
    withOutputForm(withCronFlags(target)).addHelpText(
      "after",
      `
With - each line of standard input is a question, {"expr", "tz", "from", "count"}, answered on one line with {"next": […]}
or {"error": {"code", "message"}}.

Examples:
  $ carillon cron next '0 9 * * MON-FRI' --tz Europe/Paris -n 3
  $ echo '{"expr":"0 0 1,31 * *","from":"2026-02-10T00:00:00Z","count":2}' | carillon cron next -`,
    );
  },
  async run(io, invocation) {
    if (requiredArg(invocation, 0) === "-") return answerLines(io, (line) => answerCronLine(line, io.now()));
    return printFires(io, invocation);
  },
};

async function printFires(io: Io, invocation: Invocation): Promise<void> {
  const count = Number(invocation.options["count"]);
  const { fires, warnings } = previewSchedule(cronOf(invocation), NO_JOB, { from: fromOf(io, invocation), count });
  for (const { message } of visibleWarnings(warnings)) io.info(`carillon: warning: ${message}`);
  const form = outputForm(invocation);
  if (form === "table") return io.out(renderTable(fireColumns, fires));
  if (form === "jsonl") return io.out(fires.map((fire) => renderJson(fireJson(fire), form)).join(""));
  return io.out(
    renderJson({ next: fires.map(({ nominal }) => formatInstant(nominal)), fires: fires.map(fireJson) }, form),
  );
}
