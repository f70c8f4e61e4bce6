import { clientOf, withServerAddress } from "../client.js";
import type { CommandModule } from "../command.js";
import { listLimit, withListLimit } from "../flags.js";
import { deadLetterFilter, withDeadLetterFilter } from "../input/dead-letter-filter.js";
import { outputForm, printList, withOutputForm } from "../output.js";
import { deadLetterColumns } from "../output/dead-letter-view.js";

export const command: CommandModule = {
  define(target) {
    withServerAddress(withOutputForm(withListLimit(withDeadLetterFilter(target)))).addHelpText(
      "after",
      `
Runs that failed for good, newest first, without those that were retried or discarded.

Example:
  $ carillon dead-letter list --task email.welcome`,
    );
  },
  async run(io, invocation) {
    const client = clientOf(io, invocation);
    const filter = await deadLetterFilter(io, invocation, client);
    await printList(io, {
      form: outputForm(invocation),
      limit: listLimit(invocation),
      columns: deadLetterColumns,
      noun: "dead letters",
      async page(size, token) {
        const query = { ...filter, page_size: size, ...(token !== null && { page_token: token }) };
        const { dead_letters: rows, next_page_token: next } = await client.deadLetters.list(query);
        return { rows, next };
      },
    });
  },
};
