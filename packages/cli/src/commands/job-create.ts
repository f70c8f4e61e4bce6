import { isFinal } from "@carillon/core";
import { CliError } from "../cli-error.js";
import { type CommandModule, flagOption } from "../command.js";
import { ExitCode } from "../exit-codes.js";
import { printJob } from "../input/job-argument.js";
import { jobRequest, withJobFlags } from "../input/job-request.js";
import { clientOf, withServerAddress } from "../input/server-address.js";
import { waitLimitMs, withWait } from "../input/wait-flags.js";
import { outputForm, withOutputForm } from "../output/form.js";
import { sayIfUnserved } from "../served-task.js";
import { exitCodeOfRun, waitForRun } from "../wait-for-run.js";
import { sayNoUndo, sayUndo } from "../output/undo.js";

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
    const job = wait ? await waitForRun(io, client, created.id, waitLimitMs(invocation)) : created;
    if (!wait) await sayIfUnserved(io, invocation, client, job.task);
    // People see them in what is printed.
    if (outputForm(invocation) !== "table")
      for (const { detail } of job.warnings ?? []) io.talk(`carillon: warning: ${detail}`);
    await printJob(io, invocation, job);
    if (job.run !== undefined && isFinal(job.run.status)) sayNoUndo(io, "it ran");
    else sayUndo(io, invocation, "created", `job cancel ${job.key === null ? job.id : `@${job.key}`}`);
    return wait && job.run !== undefined ? exitCodeOfRun(job.run) : ExitCode.ok;
  },
};
