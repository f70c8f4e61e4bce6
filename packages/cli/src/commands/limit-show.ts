import { clientOf } from "../client.js";
import type { CommandModule } from "../command.js";
import { CliError, ExitCode } from "../exit-codes.js";
import { limitTarget, withLimitArgument } from "../input/limit-argument.js";
import { outputForm, renderJson, renderRows } from "../output.js";
import { renderLimit } from "../output/limit-view.js";

export const command: CommandModule = {
  define(target) {
    withLimitArgument(target).addHelpText(
      "after",
      `
Examples:
  $ carillon limit show lim_42
  $ carillon limit show queue:email`,
    );
  },
  async run(io, invocation) {
    const { limits } = clientOf(io, invocation);
    const target = limitTarget(io, invocation);
    const form = outputForm(invocation);
    const found =
      target.of === "limit"
        ? [await limits.get(target.id)]
        : (await limits.list({ scope: target.of, key: target.of === "queue" ? target.name : "" })).limits;
    if (found.length === 0)
      throw new CliError(ExitCode.notFound, `no run has needed a limit of this ${target.of} within the last hour`);
    if (form === "table") return io.out(found.map(renderLimit).join("\n"));
    await io.out(target.of === "limit" ? renderJson(found[0], form) : renderRows(found, form));
  },
};
