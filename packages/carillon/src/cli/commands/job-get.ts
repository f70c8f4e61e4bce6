import { type CommandModule, requiredArg } from "../command.js";
import { clientOf, withServerAddress } from "../input/server-address.js";
import { outputForm, renderJson, withOutputForm } from "../output/form.js";
import { renderJob } from "../output/job-view.js";

export const command: CommandModule = {
  define(target) {
    withServerAddress(withOutputForm(target.argument("<job>", "its id, or @ and its key"))).addHelpText(
      "after",
      `
Examples:
  $ carillon job get @nightly-report
  $ carillon job get job_01k9zq3v5e0r8t2b7n4m6x1c9d --json`,
    );
  },
  async run(io, invocation) {
    const job = await clientOf(io, invocation).jobs.get(requiredArg(invocation, 0));
    const form = outputForm(invocation);
    await io.out(form === "table" ? renderJob(job) : renderJson(job, form));
  },
};
