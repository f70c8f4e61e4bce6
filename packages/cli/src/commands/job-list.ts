import { clientOf, withServerAddress } from "../client.js";
import type { CommandModule } from "../command.js";
import { listFilter, listLimit, withListFilter } from "../flags.js";
import { outputForm, printList, withOutputForm } from "../output.js";
import { jobColumns } from "../output/job-view.js";

export const command: CommandModule = {
  define(target) {
    withServerAddress(withOutputForm(withListFilter(target))).addHelpText(
      "after",
      `
Examples:
  $ carillon job list --status failed
  $ carillon job list --task echo -o jsonl --limit 10000`,
    );
  },
  async run(io, invocation) {
    const client = clientOf(io, invocation);
    const filter = listFilter(io, invocation);
    await printList(io, {
      form: outputForm(invocation),
      limit: listLimit(invocation),
      columns: jobColumns,
      noun: "jobs",
      async page(size, token) {
        const { jobs, next_page_token: next } = await client.jobs.list({
          ...filter,
          page_size: size,
          ...(token !== null && { page_token: token }),
        });
        return { rows: jobs, next };
      },
    });
  },
};
