import type { Calendar } from "@carillon/contract";
import { clientOf, withServerAddress } from "../client.js";
import type { CommandModule } from "../command.js";
import { listLimit, withListLimit } from "../flags.js";
import { outputForm, printList, withOutputForm } from "../output.js";
import type { Column } from "../table.js";

const columns: readonly Column<Calendar>[] = [
  { title: "NAME", value: ({ name }) => name },
  { title: "VERSION", value: ({ version }) => String(version), align: "right" },
  { title: "RULES", value: ({ rules }) => String(rules.length), align: "right" },
  { title: "CREATED", value: (calendar) => calendar.created_at },
];

export const command: CommandModule = {
  define(target) {
    withListLimit(withServerAddress(withOutputForm(target))).addHelpText(
      "after",
      `
Example:
  $ carillon calendar list`,
    );
  },
  async run(io, invocation) {
    const client = clientOf(io, invocation);
    await printList(io, {
      form: outputForm(invocation),
      limit: listLimit(invocation),
      columns,
      noun: "calendars",
      async page(size, token) {
        const query = { page_size: size, ...(token !== null && { page_token: token }) };
        const { calendars, next_page_token: next } = await client.calendars.list(query);
        return { rows: calendars, next };
      },
    });
  },
};
