import type { Window } from "@carillon/contract";
import { clientOf, withServerAddress } from "../client.js";
import type { CommandModule } from "../command.js";
import { listLimit, withListLimit } from "../flags.js";
import { aboutOf, openOf } from "../input/window-argument.js";
import { outputForm, printList, withOutputForm } from "../output.js";
import type { Column } from "../table.js";

const columns: readonly Column<Window>[] = [
  { title: "NAME", value: ({ name }) => name },
  { title: "MODE", value: ({ mode }) => mode },
  { title: "ABOUT", value: aboutOf },
  { title: "OPEN", value: openOf },
];

export const command: CommandModule = {
  define(target) {
    withListLimit(withServerAddress(withOutputForm(target))).addHelpText(
      "after",
      `
Example:
  $ carillon window list`,
    );
  },
  async run(io, invocation) {
    const client = clientOf(io, invocation);
    await printList(io, {
      form: outputForm(invocation),
      limit: listLimit(invocation),
      columns,
      noun: "maintenance windows",
      async page(size, token) {
        const query = { page_size: size, ...(token !== null && { page_token: token }) };
        const { maintenance_windows: rows, next_page_token: next } = await client.maintenanceWindows.list(query);
        return { rows, next };
      },
    });
  },
};
