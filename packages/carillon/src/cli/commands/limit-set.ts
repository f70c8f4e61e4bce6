import type { Client } from "@carillon/client";
import type { Limit } from "@carillon/contract";
import { maxLimit } from "@carillon/core";
import { CliError } from "../cli-error.js";
import { type CommandModule, type Invocation, textOption } from "../command.js";
import { ExitCode } from "../exit-codes.js";
import { found } from "../input/found.js";
import {
  changeOwn,
  flagsOf,
  type LimitOwner,
  limitTarget,
  ownNamespace,
  readOwn,
  sayUndoOfOwn,
  withLimitArgument,
} from "../input/limit-argument.js";
import { wholeNumber } from "../input/number.js";
import { clientOf } from "../input/server-address.js";
import type { Io } from "../io.js";
import { outputForm, renderJson } from "../output/form.js";
import { renderLimit } from "../output/limit-view.js";
import { type OwnLimits, ownLimitFields } from "../output/own-limits.js";
import { shellWord } from "../output/shell-word.js";
import { renderFields } from "../output/table.js";
import { sayUndo } from "../output/undo.js";

export const command: CommandModule = {
  define(target) {
    withLimitArgument(target)
      .option("--limit <number>", "so many runs at a time, or starts in a window", wholeNumber(0, maxLimit))
      .option("--per <duration>", "the length of the window: the limit is a rate")
      .option("--burst <number>", "of a rate: so many may wait for a worker", wholeNumber(1, maxLimit))
      .addHelpText(
        "after",
        `
What runs goes on: a limit that is lower than what runs is reached by waiting. A limit of runs and jobs (lim_42) counts
from then on whatever they say, until it is taken away; it is given back to them then.

Examples:
  $ carillon limit set queue:reports --limit 5
  $ carillon limit set namespace --limit 100 --per 1m
  $ carillon limit set lim_42 --limit 2`,
      );
  },
  async run(io, invocation) {
    const client = clientOf(io, invocation);
    const target = limitTarget(io, invocation);
    if (target.of !== "limit") return setOwn(io, invocation, target);
    const before = await client.limits.get(target.id);
    if (before.scope === "queue") return setOwn(io, invocation, { of: "queue", name: before.key }, before);
    if (before.scope === "namespace") return setOwn(io, invocation, ownNamespace(io, invocation), before);
    await setByHand(io, invocation, { client, before });
  },
};

/** A limit of runs. */
async function setByHand(
  io: Io,
  invocation: Invocation,
  { client, before }: { readonly client: Client; readonly before: Limit },
): Promise<void> {
  const { limit, per, burst } = boundOf(invocation);
  if (limit === undefined && per === undefined && burst === undefined) throw nothingToSet();
  const change = {
    ...(limit !== undefined && { limit }),
    ...(per !== undefined && { per }),
    ...(burst !== undefined && { burst }),
  };
  const after = await client.limits.update(before.id, change);
  const form = outputForm(invocation);
  await io.out(form === "table" ? renderLimit(after) : renderJson(after, form));
  const undo = before.fixed ? `limit set ${before.id} ${flagsOf(before)}` : `limit remove ${before.id}`;
  sayUndo(io, invocation, "set by hand", undo);
}

/** A limit of a queue or a namespace: a rate if it has a window. `known`: the limit that was named by its id. */
async function setOwn(io: Io, invocation: Invocation, owner: LimitOwner, known?: Limit): Promise<void> {
  const client = clientOf(io, invocation);
  const { limit = known?.limit, per = known?.per ?? undefined, burst } = boundOf(invocation);
  if (limit === undefined) throw nothingToSet();
  if (limit === 0) throw nothingStarts(owner);
  if (per === undefined && burst !== undefined)
    throw new CliError(ExitCode.usage, "a burst belongs to a rate: say --per <duration> too");
  // A queue that does not exist is made with its limits.
  const none = { concurrency: null, rate_limit: null };
  const before = owner.of === "queue" ? ((await found(readOwn(client, owner))) ?? none) : await readOwn(client, owner);
  const rate = { limit, per: per ?? "", ...(burst !== undefined && { burst }) };
  const kind = per === undefined ? "concurrency" : "rate_limit";
  const after = await changeOwn(client, owner, per === undefined ? { concurrency: { limit } } : { rate_limit: rate });
  await printOwn(io, invocation, owner, after);
  sayUndoOfOwn(io, invocation, { done: "set", owner, before, kinds: [kind] });
}

export async function printOwn(
  io: Io,
  invocation: Invocation,
  { of, name }: LimitOwner,
  { concurrency, rate_limit: rate }: OwnLimits,
): Promise<void> {
  const form = outputForm(invocation);
  if (form !== "table") return io.out(renderJson({ [of]: name, concurrency, rate_limit: rate }, form));
  await io.out(renderFields([[of, name], ...ownLimitFields({ concurrency, rate_limit: rate })]));
}

function boundOf({ options, ...rest }: Invocation) {
  const number = (name: string): number | undefined => {
    const value = options[name];
    return typeof value === "number" ? value : undefined;
  };
  return { limit: number("limit"), per: textOption({ options, ...rest }, "per"), burst: number("burst") };
}

const nothingToSet = (): CliError => new CliError(ExitCode.usage, "say what it is to be: --limit <number>");

/** A limit of runs may be 0 and lets nothing start; that of a queue or a namespace may not. */
function nothingStarts(owner: LimitOwner): CliError {
  const instead = owner.of === "queue" ? `; to let nothing start: carillon queue pause ${shellWord(owner.name)}` : "";
  return new CliError(ExitCode.usage, `the limit of a ${owner.of} is a whole number from 1 to ${maxLimit}${instead}`);
}
