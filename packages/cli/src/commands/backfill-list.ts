import { clientOf } from "../client.js";
import type { CommandModule } from "../command.js";
import { listLimit, withListLimit } from "../flags.js";
import { jobArgument, withJobArgument } from "../job-flags.js";
import { outputForm, printList } from "../output.js";
import { backfillColumns } from "../output/backfill-view.js";

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
