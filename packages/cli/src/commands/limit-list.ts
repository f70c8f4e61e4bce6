import type { LimitQuery } from "@carillon/contract";
import { limitKinds, limitScopes } from "@carillon/core";
import { Option } from "commander";
import { clientOf, withServerAddress } from "../client.js";
import { type CommandModule, textOption } from "../command.js";
import { listLimit, withListLimit } from "../flags.js";
import { outputForm, printList, withOutputForm } from "../output.js";
import { limitColumns } from "../output/limit-view.js";

export const command: CommandModule = {
  define(target) {
    withListLimit(withServerAddress(withOutputForm(target)))
      .addOption(new Option("--scope <scope>", "only of these").choices([...limitScopes]))
      .addOption(new Option("--kind <kind>", "only of this kind").choices([...limitKinds]))
      .option("--key <key>", "only with this key, filled in")
      .addHelpText(
        "after",
        `
Shows limits that runs use or used within the last hour, and those that were set by hand.

Examples:
  $ carillon limit list
  $ carillon limit list --kind rate --key weather-api`,
      );
  },
  async run(io, invocation) {
    const { limits } = clientOf(io, invocation);
    const [scope, kind, key] = ["scope", "kind", "key"].map((name) => textOption(invocation, name));
    const filter = {
      ...(scope !== undefined && { scope }),
      ...(kind !== undefined && { kind }),
      ...(key !== undefined && { key }),
    } as Partial<LimitQuery>;
    await printList(io, {
      form: outputForm(invocation),
      limit: listLimit(invocation),
      columns: limitColumns,
      noun: "limits",
      async page(size, token) {
        const query = { ...filter, page_size: size, ...(token !== null && { page_token: token }) };
        const { limits: rows, next_page_token: next } = await limits.list(query);
        return { rows, next };
      },
    });
  },
};
