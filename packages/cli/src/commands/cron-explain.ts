import { previewSchedule } from "@carillon/core";
import type { CommandModule } from "../command.js";
import { NO_JOB, cronOf, fromOf, withCronFlags } from "../input/cron-flags.js";
import { outputForm, renderJson, withOutputForm, visibleWarnings } from "../output.js";
import { fireColumns, fireJson } from "../output/fire-view.js";
import { renderTable } from "../table.js";

const SHOWN_FIRES = 5;

export const command: CommandModule = {
  define(target) {
    target.argument("<expression>", "five fields, six with seconds first, or a macro such as @daily");
    withOutputForm(withCronFlags(target)).addHelpText(
      "after",
      `
Examples:
  $ carillon cron explain '*/15 9-17 * * MON-FRI'
  $ carillon cron explain '30 2 * * *' --tz America/New_York --from 2030-03-09T00:00:00Z`,
    );
  },
  async run(io, invocation) {
    const options = { from: fromOf(io, invocation), count: SHOWN_FIRES };
    const { description, fires, warnings } = previewSchedule(cronOf(invocation), NO_JOB, options);
    const form = outputForm(invocation);
    if (form !== "table") return io.out(renderJson({ description, fires: fires.map(fireJson), warnings }, form));
    await io.out(`${description}\n\n${renderTable(fireColumns, fires)}`);
    for (const { message } of visibleWarnings(warnings)) io.info(`carillon: warning: ${message}`);
  },
};
