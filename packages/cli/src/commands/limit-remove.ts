import { Option } from "commander";
import { clientOf } from "../client.js";
import { type CommandModule, type Invocation, textOption } from "../command.js";
import { CliError, ExitCode } from "../exit-codes.js";
import {
  type LimitOwner,
  changeOwn,
  flagsOf,
  limitTarget,
  ownNamespace,
  ownerText,
  readOwn,
  sayUndoOfOwn,
  withLimitArgument,
} from "../input/limit-argument.js";
import type { Io } from "../io.js";
import { outputForm, renderJson } from "../output.js";
import { renderLimit } from "../output/limit-view.js";
import type { OwnLimits } from "../output/own-limits.js";
import { printUndo } from "../undo.js";
import { printOwn } from "./limit-set.js";

const kinds = { concurrency: ["concurrency"], rate: ["rate_limit"], both: ["concurrency", "rate_limit"] } as const;

export const command: CommandModule = {
  define(target) {
    withLimitArgument(target)
      .addOption(new Option("--kind <kind>", "of a queue or a namespace: only this").choices(["concurrency", "rate"]))
      .addHelpText(
        "after",
        `
Of a queue or a namespace its own limits go. A limit of runs and jobs (lim_42) that was set by hand is given back: what
they say of it counts again.

Examples:
  $ carillon limit remove queue:reports
  $ carillon limit remove namespace --kind rate
  $ carillon limit remove lim_42`,
      );
  },
  async run(io, invocation) {
    const target = limitTarget(io, invocation);
    const kind = textOption(invocation, "kind") as "concurrency" | "rate" | undefined;
    if (target.of !== "limit") return removeOwn(io, invocation, target, kinds[kind ?? "both"]);
    const { limits } = clientOf(io, invocation);
    const before = await limits.get(target.id);
    const own = before.kind === "rate" ? kinds.rate : kinds.concurrency;
    if (before.scope === "queue") return removeOwn(io, invocation, { of: "queue", name: before.key }, own);
    if (before.scope === "namespace") return removeOwn(io, invocation, ownNamespace(io, invocation), own);
    if (!before.fixed)
      throw new CliError(
        ExitCode.conflict,
        `${target.id} was not set by hand: the runs that name it say what it is, and it goes with the last of them`,
      );
    const after = await limits.update(target.id, { fixed: false });
    const form = outputForm(invocation);
    await io.out(form === "table" ? renderLimit(after) : renderJson(after, form));
    printUndo(io, invocation, "given back", `limit set ${target.id} ${flagsOf(before)}`);
  },
};

async function removeOwn(
  io: Io,
  invocation: Invocation,
  owner: LimitOwner,
  asked: readonly (keyof OwnLimits)[],
): Promise<void> {
  const client = clientOf(io, invocation);
  const before = await readOwn(client, owner);
  const gone = asked.filter((kind) => before[kind] !== null);
  if (gone.length === 0) throw new CliError(ExitCode.notFound, `${ownerText(owner)} has no such limit`);
  const after = await changeOwn(client, owner, Object.fromEntries(gone.map((kind) => [kind, null])));
  await printOwn(io, invocation, owner, after);
  sayUndoOfOwn(io, invocation, { done: "taken away", owner, before, kinds: gone });
}
