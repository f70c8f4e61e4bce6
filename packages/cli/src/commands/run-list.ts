import { clientOf, withServerAddress } from "../client.js";
import type { CommandModule } from "../command.js";
import { listFilter, listLimit, withListFilter } from "../flags.js";
import { jobIdOption } from "../job-flags.js";
import { outputForm, printList, withOutputForm } from "../output.js";
import { runColumns } from "../output/run-view.js";

export const command: CommandModule = {
  define(target) {
    withServerAddress(withOutputForm(withListFilter(target)))
      .option("--job <job>", "only of this job: its key, or its id")
      .addHelpText(
        "after",
        `
Examples:
  $ carillon run list --status failed
  $ carillon run list --job @nightly-report -n 5`,
      );
  },
  async run(io, invocation) {
    const client = clientOf(io, invocation);
    const jobId = await jobIdOption(invocation, client);
    const filter = { ...listFilter(io, invocation), ...(jobId !== undefined && { job_id: jobId }) };
    await printList(io, {
      form: outputForm(invocation),
      limit: listLimit(invocation),
      columns: runColumns,
      noun: "runs",
      async page(size, token) {
        const { runs, next_page_token: next } = await client.runs.list({
          ...filter,
          page_size: size,
          ...(token !== null && { page_token: token }),
        });
        return { rows: runs, next };
      },
    });
  },
};
