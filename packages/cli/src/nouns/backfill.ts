import { type Backfill, backfillLimits, type JobBackfill } from "@carillon/contract";
import { present } from "@carillon/core";
import {
  type CommandBody,
  type Commands,
  flagOption,
  type Invocation,
  numberOption,
  textFields,
  textOption,
} from "../command.js";
import type { ExitCode } from "../exit-codes.js";
import { numberWithin, wholeNumber } from "../flags.js";
import { job } from "../job-flags.js";
import { type Column, fieldColumns, printThing, renderFields } from "../output.js";
import { exitCodeOfBackfill, watchBackfill } from "../progress-line.js";
import { printUndo, undoLine } from "../undo.js";
import { type Call, changeCommand, listCommand, type Resource, serverBody, serverCommand } from "../verbs.js";

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

/** The body of `carillon job backfill`, which loads the contract for its limits. */
export const jobBackfill: CommandBody = serverBody(job, {
  define(target) {
    const { minPerSecond, perSecond, concurrency } = backfillLimits;
    return target
      .requiredOption("--from <instant>", "the first time that counts, as in 2030-01-01T00:00:00Z")
      .option("--to <instant>", "the last time that counts; now without it")
      .option("--dry-run", "only print how many occurrences there are")
      .option("--rate <number>", "runs created in a second, at most", numberWithin(minPerSecond, perSecond))
      .option("--concurrency <count>", "runs live at the same time, at most", wholeNumber(1, concurrency))
      .option("--repeat", "also times that have a run already")
      .option("--force", "despite the job's overlap policy")
      .option("--watch", "stay and show the progress");
  },
  notes: "Each run is created from the definition that was in force then. Times that ran are left out.",
  examples: [
    "carillon job backfill @nightly-report --from 2030-01-01T00:00:00Z --to 2030-01-31T23:59:59Z --dry-run",
    "carillon job backfill @nightly-report --from 2030-01-01T00:00:00Z --rate 2 --concurrency 1 --watch",
  ],
  run: backfillJob,
});

async function backfillJob({ io, invocation, client, name }: Call): Promise<ExitCode | void> {
  const range = backfillRange(invocation);
  if (flagOption(invocation, "dryRun")) {
    const counted = await client.jobs.countBackfill(name, range);
    await printThing(io, invocation, counted, ({ total }) => `${total}\n`);
    const { total } = counted;
    io.info(`carillon: ${total} occurrence${total === 1 ? "" : "s"} in that range; nothing was written`);
    return;
  }
  const started = await client.jobs.backfill(name, range);
  printUndo(io, invocation, `${started.id} is running; runs that it created stay`, `backfill abort ${started.id}`);
  const latest = flagOption(invocation, "watch") ? await watchBackfill(io, client, started) : started;
  await printThing(io, invocation, latest, backfill.render);
  return exitCodeOfBackfill(latest);
}

function backfillRange(invocation: Invocation): Omit<JobBackfill, "dry_run"> {
  const rate = numberOption(invocation, "rate");
  const concurrency = numberOption(invocation, "concurrency");
  return {
    from: textOption(invocation, "from") ?? "",
    ...textFields(invocation, ["to"]),
    ...present({ per_second: rate, concurrency }),
    ...(flagOption(invocation, "repeat") && { repeat: true }),
    ...(flagOption(invocation, "force") && { force: true }),
  };
}
