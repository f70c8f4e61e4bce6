import { isFinal } from "@carillon/core";
import { clientOf, withServerAddress } from "../client.js";
import { type CommandModule, flagOption } from "../command.js";
import { CliError, ExitCode } from "../exit-codes.js";
import { jobRequest, printJob, withJobFlags } from "../job-flags.js";
import { outputForm, withOutputForm } from "../output.js";
import { warnIfUnserved } from "../served-task.js";
import { printNoUndo, printUndo } from "../undo.js";
import { exitCodeOfRun, waitForJobRun, waitLimitMs, withWait } from "../wait-for-run.js";

export const command: CommandModule = {
  define(target) {
    withWait(withServerAddress(withOutputForm(withJobFlags(target)))).addHelpText(
      "after",
      `
Without --cron, --every, --at or --delay the job runs once, at once.

Examples:
  $ carillon job create --task echo --payload '{"hello":"world"}' --wait
  $ carillon job create --task http --payload @request.json --cron '0 9 * * MON' --tz Europe/Paris --key weekly
  $ echo '{"ms":500}' | carillon job create --task sleep --payload - --delay 10s`,
    );
  },
  async run(io, invocation) {
    const wait = flagOption(invocation, "wait");
    if (wait && (invocation.options["cron"] !== undefined || invocation.options["every"] !== undefined)) {
      throw new CliError(
        ExitCode.usage,
        "--wait is for jobs that run once: leave it out, or leave out --cron and --every",
      );
    }
    const client = clientOf(io, invocation);
    const created = await client.jobs.create(await jobRequest(io, invocation));
    const job = wait ? await waitForJobRun(io, client, created.id, waitLimitMs(invocation)) : created;
    if (!wait) await warnIfUnserved(io, invocation, client, job.task);
    // People see them in what is printed.
    if (outputForm(invocation) !== "table")
      for (const { detail } of job.warnings ?? []) io.info(`carillon: warning: ${detail}`);
    await printJob(io, invocation, job);
    if (job.run !== undefined && isFinal(job.run.status)) printNoUndo(io, "it ran");
    else printUndo(io, invocation, "created", `job cancel ${job.key === null ? job.id : `@${job.key}`}`);
    return wait && job.run !== undefined ? exitCodeOfRun(job.run) : ExitCode.ok;
  },
};
