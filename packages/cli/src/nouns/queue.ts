import type { Queue, QueuePatch, QueueStats } from "@carillon/contract";
import { Option } from "commander";
import { found } from "../client.js";
import { type Commands, flagOption, textFields, textOption } from "../command.js";
import { ExitCode, usageError } from "../exit-codes.js";
import { withPauseFlags } from "../flags.js";
import { ownLimitFields } from "./limit.js";
import { type Column, fieldsOf, outputForm, renderFields, renderJson } from "../output.js";
import { pauseFlags, printNoUndo, shellWord } from "../undo.js";
import { changeCommand, getCommand, listCommand, type Resource, serverCommand } from "../verbs.js";
import { watchOperation } from "../progress-line.js";

type QueueWithStats = Queue & { readonly stats?: QueueStats };

const columns: readonly Column<Queue>[] = [
  { title: "NAME", value: ({ name }) => name },
  { title: "STATE", value: stateOf },
  { title: "ORDER", value: ({ order }) => order },
  { title: "BOUND", value: ({ bound }) => bound ?? "" },
];

function stateOf({ paused, pause }: Queue): string {
  if (!paused) return "open";
  return pause?.reason === null || pause?.reason === undefined ? "paused" : `paused (${pause.reason})`;
}

function statsFields({ queued, running, exact, wait_ms: waitMs, workers, slots }: QueueStats): [string, string][] {
  const more = exact ? "" : " or more";
  return [
    ["queued", `${queued}${more}`],
    ["running", `${running}${more}`],
    ["longest wait", `${Math.round(waitMs / 1_000)} s`],
    ["workers", `${workers}, with ${slots} slots`],
  ];
}

const queue: Resource<QueueWithStats> = {
  argument: "<queue>",
  argumentHelp: "its name",
  async get(client, name) {
    const one = await client.queues.get(name);
    return { ...one, stats: await client.queues.stats(name) };
  },
  render: (one) =>
    renderFields([
      ["name", one.name],
      ["state", stateOf(one)],
      ...fieldsOf(one, "order", "bound"),
      ...ownLimitFields(one),
      ...(one.stats === undefined ? [] : statsFields(one.stats)),
    ]),
};

const orders = ["priority", "fifo", "edf", "sjf", "strict"] as const;

export const queueCommands: Commands = {
  list: listCommand({
    summary: "list queues by name",
    rows: "queues",
    columns,
    page: ({ client }, query) => client.queues.list(query),
    examples: ["carillon queue list"],
  }),
  get: getCommand(queue, { summary: "show one queue and its load", examples: ["carillon queue get email"] }),
  update: changeCommand(queue, {
    summary: "set the order of a queue",
    define: (target) =>
      target
        .addOption(new Option("--order <order>", "in which order workers get its runs").choices([...orders]))
        .option(
          "--bound <duration>",
          "a run waits only for runs that became due at most this much later; usual for the order's own",
        ),
    notes: `
A queue that does not exist is created. Strict order is chosen before the queue's first use, and stays.`,
    examples: [
      "carillon queue update email --order fifo",
      "carillon queue update reports --order priority --bound 30m",
    ],
    async change({ client: { queues }, invocation, name }) {
      const [order, bound] = [textOption(invocation, "order"), textOption(invocation, "bound")];
      const patch: QueuePatch = {
        ...(order !== undefined && { order: order as (typeof orders)[number] }),
        ...(bound !== undefined && { bound: bound === "usual" ? null : bound }),
      };
      if (Object.keys(patch).length === 0) throw usageError("Give what is to change: --order or --bound.");
      const before = await found(queues.get(name));
      const thing = await queues.update(name, patch);
      if (before === null) return { thing, done: "created", undo: null, instead: "a queue stays" };
      const undo = `queue update ${shellWord(name)} --order ${before.order} --bound ${before.bound ?? "usual"}`;
      return { thing, done: "changed; runs that wait keep their places", undo };
    },
  }),
  pause: changeCommand(queue, {
    summary: "give workers no runs of a queue",
    define: withPauseFlags,
    examples: ["carillon queue pause email --reason 'the mail provider is down'"],
    async change({ io, client: { queues }, invocation, name }) {
      const before = await found(queues.get(name));
      const thing = await queues.pause(name, textFields(invocation, ["reason", "until", "for"]));
      const word = shellWord(name);
      if (!before?.pause) return { thing, done: "paused", undo: `queue resume ${word}` };
      return {
        thing,
        done: "it was paused already",
        undo: `queue pause ${word}${pauseFlags(before.pause, io.now())}`,
      };
    },
  }),
  resume: changeCommand(queue, {
    summary: "give workers runs of a queue again",
    examples: ["carillon queue resume email"],
    async change({ io, client: { queues }, name }) {
      const before = await queues.get(name);
      const thing = await queues.resume(name);
      if (!before.paused) return { thing, unchanged: "it was not paused" };
      const undo = `queue pause ${shellWord(name)}${pauseFlags(before.pause, io.now())}`;
      return { thing, done: "resumed", undo };
    },
  }),
  purge: serverCommand(queue, {
    changes: true,
    summary: "cancel all runs of a queue that wait",
    define: (target) =>
      target
        .option("--dry-run", "only print how many there are")
        .option("--keep-delayed", "keep those that wait for their time or for their next try"),
    notes: `
Ends every run of the queue that waits, for any reason, as cancelled; runs that workers have go on. There is no undo. Many runs are
ended by an operation, which this command follows; if it is interrupted, the operation goes on.`,
    examples: ["carillon queue purge email --dry-run", "carillon queue purge email"],
    async run({ io, client, invocation, name }) {
      const isDryRun = flagOption(invocation, "dryRun");
      const isKept = flagOption(invocation, "keepDelayed");
      const request = { ...(isKept && { delayed: false }), ...(isDryRun && { dry_run: true }) };
      const purged = await client.queues.purge(name, request);
      const ended = "id" in purged ? await watchOperation(io, client, purged) : null;
      const { count, more } = "id" in purged ? { count: ended?.done ?? 0, more: false } : purged;
      const form = outputForm(invocation);
      const text = `${count}${more ? " or more" : ""}\n`;
      await io.out(form === "table" ? text : renderJson({ count, more, dry_run: isDryRun }, form));
      if (isDryRun) return io.info("carillon: so many runs would be cancelled; nothing was changed");
      if (ended?.state === "aborted") return ExitCode.cancelled;
      printNoUndo(io, "cancelled", "create a run again with carillon run replay <id>");
    },
  }),
};
