import type { CommandModule } from "../command.js";
import { jobArgument, withJobArgument } from "../input/job-argument.js";
import { listLimit, withListLimit } from "../input/list-filter.js";
import { clientOf } from "../input/server-address.js";
import { backfillColumns } from "../output/backfill-view.js";
import { outputForm } from "../output/form.js";
import { printList } from "../output/list.js";

export const command: CommandModule = {
  define(target) {
    withListLimit(withJobArgument(target)).addHelpText(
      "after",
      `
Example:
  $ carillon backfill list @nightly-report`,
    );
  },
  async run(io, invocation) {
    const client = clientOf(io, invocation);
    const name = jobArgument(invocation);
    await printList(io, {
      form: outputForm(invocation),
      limit: listLimit(invocation),
      columns: backfillColumns,
      noun: "backfills",
      async page(size, token) {
        const query = { page_size: size, ...(token !== null && { page_token: token }) };
        const { backfills, next_page_token: next } = await client.jobs.backfills(name, query);
        return { rows: backfills, next };
      },
    });
  },
};
