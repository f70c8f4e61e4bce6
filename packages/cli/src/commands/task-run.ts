import { isFinal } from "@carillon/core";
import { Option } from "commander";
import { type CommandModule, flagOption, requiredArg, textOption } from "../command.js";
import { ExitCode } from "../exit-codes.js";
import { runRequest, withPayload, withRunFlags } from "../input/job-request.js";
import { clientOf, withServerAddress } from "../input/server-address.js";
import { waitLimitMs, withWait } from "../input/wait-flags.js";
import { outputForm, renderJson, withOutputForm } from "../output/form.js";
import { renderRun } from "../output/run-view.js";
import { sayIfUnserved } from "../served-task.js";
import { exitCodeOfRun, waitForEnd } from "../wait-for-run.js";
import { sayNoUndo, sayUndo } from "../output/undo.js";

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
    if (!wait) await sayIfUnserved(io, invocation, client, run.task);
    const shown = wait ? await waitForEnd(io, client, run.id, waitLimitMs(invocation)) : run;
    const form = outputForm(invocation);
    await io.out(form === "table" ? renderRun(shown) : renderJson(shown, form));
    if (!wait) io.talk(`carillon: watch it with: carillon run watch ${run.id}`);
    if (isFinal(shown.status)) sayNoUndo(io, "it ran");
    else sayUndo(io, invocation, "asked for", `run cancel ${run.id}`);
    return wait ? exitCodeOfRun(shown) : ExitCode.ok;
  },
};
