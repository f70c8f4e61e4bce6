import type { RunLogQuery } from "@carillon/contract";
import { clientOf, withServerAddress } from "../client.js";
import { type CommandModule, flagOption, requiredArg } from "../command.js";
import { levelOption, withLevel } from "../flags.js";
import { outputForm, renderJson, withOutputForm } from "../output.js";
import { Reconnect } from "../reconnect.js";
import { renderLogLine } from "../watch-run.js";

const maxPageSize = 1_000;

export const command: CommandModule = {
  define(target) {
    withServerAddress(withOutputForm(withLevel(target.argument("<run>", "its id"))))
      .option("-f, --follow", "stay until the run has ended, and show what it logs meanwhile")
      .addHelpText(
        "after",
        `
With -f, while the server is away it asks again for a minute, and then goes on where it was.

Examples:
  $ carillon run logs run_01k9zq3v5e0r8t2b7n4m6x1c9d
  $ carillon run logs -f --level warn run_01k9zq3v5e0r8t2b7n4m6x1c9d`,
      );
  },
  async run(io, invocation) {
    const client = clientOf(io, invocation);
    const id = requiredArg(invocation, 0);
    const form = outputForm(invocation);
    const level = levelOption(invocation);
    const isFollowing = flagOption(invocation, "follow");
    const absence = new Reconnect(io, { hasAnswered: false });
    const all: unknown[] = [];
    let token: string | null = null;
    let count = 0;
    do {
      const query: RunLogQuery = {
        page_size: maxPageSize,
        ...(level !== undefined && { level }),
        ...(isFollowing && { follow: "true" as const }),
        ...(token !== null && { page_token: token }),
      };
      const look = () => client.runs.logs(id, query);
      // The token says where to go on: an answer that was lost is given again, and no line twice.
      const { lines, next_page_token: next } = await (isFollowing ? absence.retryWhileAway(look) : look());
      token = next;
      count += lines.length;
      // One document has an end; lines go out as they come.
      if (form === "json" || form === "yaml") all.push(...lines);
      else await io.out(lines.map(form === "table" ? renderLogLine : (line) => renderJson(line, "jsonl")).join(""));
    } while (token !== null);
    if (form === "json" || form === "yaml") await io.out(renderJson(all, form));
    else if (count === 0) io.info("carillon: no lines: it logged nothing of that kind, or has not begun");
  },
};
