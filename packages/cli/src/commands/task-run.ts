import { isFinal } from "@carillon/core";
import { Option } from "commander";
import { clientOf, withServerAddress } from "../client.js";
import { type CommandModule, flagOption, requiredArg, textOption } from "../command.js";
import { ExitCode } from "../exit-codes.js";
import { runRequest, withPayload, withRunFlags } from "../job-flags.js";
import { outputForm, renderJson, withOutputForm } from "../output.js";
import { renderRun } from "../output/run-view.js";
import { warnIfUnserved } from "../served-task.js";
import { printNoUndo, printUndo } from "../undo.js";
import { exitCodeOfRun, waitForRun, waitLimitMs, withWait } from "../wait-for-run.js";

export const command: CommandModule = {
  define(target) {
    withRunFlags(withPayload(target.argument("<task>", "its name")))
      .addOption(new Option("--delay <duration>", "not before this time has passed, as in 10m").conflicts("at"))
      .option("--at <instant>", "not before then, as in 2030-01-01T09:00:00Z");
    withWait(withServerAddress(withOutputForm(target))).addHelpText(
      "after",
      `
Asks for one run, without a job.

Examples:
  $ carillon task run echo --payload '{"hello":"world"}' --wait
  $ carillon task run email.welcome --payload @user.json --queue email --delay 3d`,
    );
  },
  async run(io, invocation) {
    const client = clientOf(io, invocation);
    const [delay, at] = ["delay", "at"].map((name) => textOption(invocation, name));
    const run = await client.runs.create({
      task: requiredArg(invocation, 0),
      ...(await runRequest(io, invocation)),
      ...(delay !== undefined && { delay }),
      ...(at !== undefined && { run_at: at }),
    });
    const wait = flagOption(invocation, "wait");
    if (!wait) await warnIfUnserved(io, invocation, client, run.task);
    const shown = wait ? await waitForRun(io, client, run.id, waitLimitMs(invocation)) : run;
    const form = outputForm(invocation);
    await io.out(form === "table" ? renderRun(shown) : renderJson(shown, form));
    if (!wait) io.info(`carillon: watch it with: carillon run watch ${run.id}`);
    if (isFinal(shown.status)) printNoUndo(io, "it ran");
    else printUndo(io, invocation, "asked for", `run cancel ${run.id}`);
    return wait ? exitCodeOfRun(shown) : ExitCode.ok;
  },
};
