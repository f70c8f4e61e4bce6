import type { Backfill } from "@carillon/contract";
import { type Commands, flagOption } from "../command.js";
import { job } from "../job-flags.js";
import { printThing } from "../output.js";
import { type Column, fieldColumns, renderFields } from "../table.js";
import { undoLine } from "../undo.js";
import { changeCommand, listCommand, type Resource, serverCommand } from "../verbs.js";
import { watchBackfill } from "../watch-progress.js";

const columns: readonly Column<Backfill>[] = [
  { title: "ID", value: ({ id }) => id },
  { title: "STATE", value: stateOf },
  ...fieldColumns("from", "to"),
  { title: "MADE", value: ({ made, total }) => `${made}/${total}`, align: "right" },
  { title: "RAN BEFORE", value: ({ passed }) => String(passed), align: "right" },
  { title: "OVERLAP", value: ({ skipped }) => String(skipped), align: "right" },
];

function stateOf({ state, reason }: Backfill): string {
  return reason === null ? state : `${state} (${reason})`;
}

export const backfill: Resource<Backfill> = {
  argument: "<backfill>",
  argumentHelp: "its id, as in bkf_…",
  get: (client, id) => client.backfills.get(id),
  render: (one) =>
    renderFields([
      ["id", one.id],
      ["job", one.job_id],
      ["state", stateOf(one)],
      ["range", `${one.from} to ${one.to}`],
      ["occurrences", String(one.total)],
      ["made", String(one.made)],
      ["ran before", String(one.passed)],
      ["overlap", String(one.skipped)],
      ["through", one.through],
      ["rate", `${one.per_second} a second, ${one.concurrency} at a time`],
      ["finished", one.finished_at],
    ]),
};

export const backfillCommands: Commands = {
  list: listCommand({
    summary: "list the backfills of a job, newest first",
    subject: job,
    rows: "backfills",
    columns,
    page: ({ client, name }, query) => client.jobs.backfills(name, query),
    examples: ["carillon backfill list @nightly-report"],
  }),
  get: serverCommand(backfill, {
    summary: "show the progress of a backfill",
    define: (target) => target.option("--watch", "stay until it has ended, and show its progress"),
    examples: ["carillon backfill get bkf_01k9zq3v5e0r8t2b7n4m6x1c9d --watch"],
    async run({ io, invocation, client, name }) {
      const one = await client.backfills.get(name);
      const isWatched = flagOption(invocation, "watch");
      await printThing(io, invocation, isWatched ? await watchBackfill(io, client, one) : one, backfill.render);
    },
  }),
  abort: changeCommand(backfill, {
    summary: "create no more runs of a backfill",
    notes: "Runs that it has created go on.",
    examples: ["carillon backfill abort bkf_01k9zq3v5e0r8t2b7n4m6x1c9d"],
    async change({ client, invocation, name }) {
      const thing = await client.backfills.abort(name);
      if (thing.state === "done") return { thing, unchanged: "it is done" };
      const again = undoLine(invocation, `job backfill ${thing.job_id} --from ${thing.from} --to ${thing.to}`);
      return {
        thing,
        done: "it creates no more runs",
        undo: null,
        instead: `start again, without the times that ran, with ${again}`,
      };
    },
  }),
};
