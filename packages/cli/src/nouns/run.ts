import type { Client } from "@carillon/client";
import type { Run, RunBulk, RunLogLine, RunLogQuery } from "@carillon/contract";
import { Argument } from "commander";
import { type Commands, flagOption, type Invocation, requiredArg, textOption } from "../command.js";
import { ExitCode, usageError } from "../exit-codes.js";
import { explainRun } from "../explain.js";
import { importRuns } from "../import-runs.js";
import {
  levelOption,
  listFilter,
  matches,
  readJsonArgument,
  withLevel,
  withListOrder,
  withRunFilter,
} from "../flags.js";
import { jobIdOption, withJobOption } from "../job-flags.js";
import {
  type Column,
  fieldColumns,
  fieldsOf,
  outputForm,
  printThing,
  renderFields,
  renderJson,
  renderTable,
} from "../output.js";
import { Reconnect } from "../client.js";
import { printUndo } from "../undo.js";
import {
  type Call,
  type Change,
  changeCommand,
  getCommand,
  listCommand,
  type Resource,
  serverCommand,
} from "../verbs.js";
import { exitCodeOfRun, renderLogLine, waitLimitMs, watchRun, withWatchLimit } from "../wait-for-run.js";
import { exitCodeOfOperation, watchOperation } from "../progress-line.js";
import { operation } from "./operation.js";

const maxPageSize = 1_000;

const milliseconds = (value: number | null): string | null => (value === null ? null : `${value} ms`);

export const runColumns: readonly Column<Run>[] = [
  ...fieldColumns("id", "task", "status"),
  { title: "ATTEMPT", value: (one) => `${one.attempt}/${one.max_attempts}` },
  { title: "SCHEDULED FOR", value: ({ trigger }) => trigger.scheduled_for },
  { title: "LATE", value: (one) => milliseconds(one.lag_ms), align: "right" },
  { title: "TOOK", value: (one) => milliseconds(one.duration_ms), align: "right" },
];

export const run: Resource<Run> = {
  argument: "<run>",
  argumentHelp: "its id",
  get: (client, id) => client.runs.get(id),
  render: renderRun,
};

function renderRun(one: Run): string {
  const fields = renderFields([
    ["id", one.id],
    ["job", one.job_id],
    ["task", one.task],
    ["status", one.status_reason === null ? one.status : `${one.status} (${one.status_reason})`],
    ...(one.waiting_on ? [["waits for", one.waiting_on.detail] as const] : []),
    ["attempt", `${one.attempt} of ${one.max_attempts}`],
    ...(one.losses > 0 ? [["losses", one.losses] as const] : []),
    ["worker", one.worker_id],
    ["scheduled for", one.trigger.scheduled_for],
    ["started", one.started_at],
    ["finished", one.finished_at],
    ["late", milliseconds(one.lag_ms)],
    ["took", milliseconds(one.duration_ms)],
    ...fieldsOf(one, "payload", "output"),
    ["error", errorText(one.error)],
    ...stackLines(one.error).map((line, at) => [at === 0 ? "stack" : "", line] as const),
  ]);
  // A single attempt that succeeded, or that runs, is in the fields already.
  const hasMore = one.attempts.length > 1 || one.attempts.some(({ error, outcome }) => error || isLoss(outcome));
  return hasMore ? `${fields}\n${renderTable(attemptColumns, one.attempts)}` : fields;
}

type Attempt = Run["attempts"][number];

const isLoss = (outcome: Attempt["outcome"]): boolean => ["worker_lost", "not_started", "drained"].includes(outcome);

const attemptColumns: readonly Column<Attempt>[] = [
  { title: "ATTEMPT", value: ({ attempt }) => attempt, align: "right" },
  { title: "OUTCOME", value: ({ outcome }) => outcome },
  { title: "WORKER", value: (one) => one.worker_id },
  { title: "STARTED", value: (one) => one.started_at },
  { title: "TOOK", value: (one) => milliseconds(one.duration_ms), align: "right" },
  { title: "ERROR", value: ({ error }) => errorText(error) },
];

function errorText(error: Run["error"]): string | null {
  return error === null ? null : `${error.type}: ${error.message}`;
}

/** Below the error itself, which a stack begins with. */
function stackLines(error: Run["error"]): readonly string[] {
  const lines = (error?.stack ?? "").split("\n").map((line) => line.trim());
  const first = lines.findIndex((line) => line.startsWith("at "));
  return (first === -1 ? lines : lines.slice(first)).filter((line) => line !== "");
}

const bulkActions = ["cancel", "retry", "discard"] as const;

const forceFlag = ["--force", "also while another run of the job is live"] as const;

/** Retries a run that failed; the server retries each only once and answers with the same new run afterwards. */
export async function retryRun(
  client: Client,
  id: string,
  options: { readonly force?: boolean } = {},
): Promise<Change<Run>> {
  const thing = await client.runs.retry(id, options);
  if (!thing.is_new) return { thing, unchanged: "it had been retried before; this is that run" };
  return { thing, done: "created", undo: `run cancel ${thing.id}` };
}

export const runCommands: Commands = {
  get: getCommand(run, {
    summary: "show one run",
    examples: ["carillon run get run_01k9zq3v5e0r8t2b7n4m6x1c9d"],
  }),
  explain: serverCommand(run, {
    summary: "explain why a run does not run",
    examples: ["carillon run explain run_01k9zq3v5e0r8t2b7n4m6x1c9d"],
    run: ({ io, invocation, client, name }) => explainRun(io, invocation, client, name),
  }),
  logs: serverCommand(run, {
    summary: "print what a run logged",
    define: (target) =>
      withLevel(target).option("-f, --follow", "stay until the run has ended, and print what it logs meanwhile"),
    notes:
      "With -f, the command retries for a minute while the server is away, and then continues after the last line.",
    examples: [
      "carillon run logs run_01k9zq3v5e0r8t2b7n4m6x1c9d",
      "carillon run logs -f --level warn run_01k9zq3v5e0r8t2b7n4m6x1c9d",
    ],
    run: printLogs,
  }),
  watch: serverCommand(run, {
    summary: "follow a run to its end: its log, its progress",
    define: (target) => withWatchLimit(withLevel(target)),
    notes: `
Prints what the run logs, and its progress, until it has ended. Exit code 0 if it succeeded, 6 if it failed, 7 if it was
cancelled, 8 if it has not ended after --wait-timeout. While the server is away the command retries for a minute. With -o json the run
itself is printed at the end, and its log goes to standard error.`,
    examples: ["carillon run watch run_01k9zq3v5e0r8t2b7n4m6x1c9d"],
    async run({ io, invocation, client, name }) {
      const level = levelOption(invocation);
      const printToStderr = async (text: string): Promise<void> => {
        if (text !== "") io.info(text.trimEnd());
      };
      const ended = await watchRun(io, client, name, {
        print: outputForm(invocation) === "table" ? (text) => io.out(text) : printToStderr,
        ...(level !== undefined && { level }),
        limitMs: waitLimitMs(invocation),
      });
      await printThing(io, invocation, ended, run.render);
      return exitCodeOfRun(ended);
    },
  }),
  list: listCommand({
    summary: "list runs, newest first",
    rows: "runs",
    columns: runColumns,
    define: (target) => withJobOption(withListOrder(withRunFilter(target))),
    examples: ["carillon run list --status failed", "carillon run list --job @nightly-report -n 5"],
    async filter({ io, invocation, client }) {
      const jobId = await jobIdOption(invocation, client);
      return { ...listFilter(io, invocation), ...(jobId !== undefined && { job_id: jobId }) };
    },
    page: ({ client }, query) => client.runs.list(query),
  }),
  cancel: changeCommand(run, {
    summary: "cancel a run, or ask its worker to stop",
    notes:
      "A run that waits ends; the worker of one that runs is asked to stop it; one that has ended is only printed.",
    examples: ["carillon run cancel run_01k9zq3v5e0r8t2b7n4m6x1c9d"],
    async change({ client, name }) {
      const thing = await client.runs.cancel(name);
      if (thing.status === "running")
        return {
          thing,
          done: "its worker is asked to stop it",
          undo: null,
          instead: "when it has ended, use carillon run replay",
        };
      if (thing.status === "cancelled") return { thing, done: "cancelled", undo: `run replay ${thing.id}` };
      return { thing, unchanged: `it is ${thing.status}` };
    },
  }),
  retry: changeCommand(run, {
    summary: "create a new run in place of one that failed",
    define: (target) => target.option(...forceFlag),
    notes: "A run is retried once: the second retry prints the run that the first one created.",
    examples: ["carillon run retry run_01k9zq3v5e0r8t2b7n4m6x1c9d"],
    change: ({ client, invocation, name }) =>
      retryRun(client, name, flagOption(invocation, "force") ? { force: true } : {}),
  }),
  replay: changeCommand(run, {
    summary: "create another run like one that has ended",
    define: (target) =>
      target
        .option("--payload <json>", "instead of the run's; @file reads a file, - standard input")
        .option(...forceFlag),
    notes: "The run may have ended in any way.",
    examples: ["carillon run replay run_01k9zq3v5e0r8t2b7n4m6x1c9d"],
    async change({ io, client, invocation, name }) {
      const payload = textOption(invocation, "payload");
      const thing = await client.runs.replay(name, {
        ...(payload !== undefined && { payload: await readJsonArgument(io, payload, "--payload") }),
        ...(flagOption(invocation, "force") && { force: true }),
      });
      return { thing, done: "created", undo: `run cancel ${thing.id}` };
    },
  }),
  import: serverCommand(null, {
    changes: true,
    summary: "create a run for each line of a file",
    define: (target) =>
      target
        .argument("<file>", "runs as JSON, one on each line; - reads standard input")
        .option("--stop-on-error", "take no further lines after one that is refused"),
    notes: `
Lines are sent a thousand at a time; faulty ones are printed with their number and stop no others. Exit code 0 if every line was taken, 2 if
one was refused. If the server is lost, the command names the line to continue with; with dedupe keys the whole file can be sent again.`,
    examples: ["carillon run import runs.ndjson", "carillon run import - --stop-on-error"],
    run: importRuns,
  }),
  bulk: serverCommand(null, {
    changes: true,
    summary: "cancel, retry or discard many runs",
    define: (target) =>
      withJobOption(
        withRunFilter(
          target
            .addArgument(new Argument("<action>", "what is done to each").choices(bulkActions))
            .argument("[run...]", "these runs; else all that match the flags"),
        ),
      )
        .option("--all", "every run that the action applies to")
        .option("--dry-run", "only print how many there are")
        .option("--watch", "stay and show the progress"),
    notes: "The server goes on by itself: carillon operation get shows its progress.",
    examples: [
      "carillon run bulk retry --task email.welcome --since 2030-01-01T00:00:00Z --dry-run",
      "carillon run bulk cancel --queue reports --watch",
    ],
    run: runBulk,
  }),
};

async function printLogs({ io, invocation, client, name }: Call): Promise<void> {
  const form = outputForm(invocation);
  const level = levelOption(invocation);
  const isFollowing = flagOption(invocation, "follow");
  const reconnect = new Reconnect(io, { hasAnswered: false });
  const all: RunLogLine[] = [];
  let token: string | null = null;
  let count = 0;
  do {
    const query: RunLogQuery = {
      page_size: maxPageSize,
      ...(level !== undefined && { level }),
      ...(isFollowing && { follow: "true" as const }),
      ...(token !== null && { page_token: token }),
    };
    const read = () => client.runs.logs(name, query);
    // The token says where to continue: a lost answer is repeated, and no line is printed twice.
    const { lines, next_page_token: next } = await (isFollowing ? reconnect.retryWhileAway(read) : read());
    token = next;
    count += lines.length;
    // One document has an end; lines are printed as they arrive.
    if (form === "json" || form === "yaml") all.push(...lines);
    else await io.out(lines.map(form === "table" ? renderLogLine : (line) => renderJson(line, "jsonl")).join(""));
  } while (token !== null);
  if (form === "json" || form === "yaml") await io.out(renderJson(all, form));
  else if (count === 0) io.info("carillon: no lines: it logged nothing of that kind, or has not started");
}

async function runBulk({ io, invocation, client }: Call): Promise<ExitCode> {
  const request = bulkOf({ io, invocation }, await jobIdOption(invocation, client));
  if (flagOption(invocation, "dryRun")) {
    const counted = await client.runs.countBulk(request);
    await printThing(io, invocation, counted, ({ count, is_least: more }) => `${count}${more ? " or more" : ""}\n`);
    io.info("carillon: it would change so many runs; nothing was changed");
    return ExitCode.ok;
  }
  const started = await client.runs.bulk(request);
  printUndo(io, invocation, `${started.id} is running; runs that it changed stay`, `operation abort ${started.id}`);
  const isWatched = flagOption(invocation, "watch");
  const latest = isWatched ? await watchOperation(io, client, started) : started;
  await printThing(io, invocation, latest, operation.render);
  return isWatched ? exitCodeOfOperation(latest) : ExitCode.ok;
}

/** Acting on every run there is needs --all. */
function bulkOf(
  { io, invocation }: Pick<Call, "io" | "invocation">,
  job: string | undefined,
): Omit<RunBulk, "dry_run"> {
  const action = requiredArg(invocation, 0) as (typeof bulkActions)[number];
  const ids = invocation.args.slice(1).filter((id) => id !== undefined);
  const filter = bulkFilter({ io, invocation }, job);
  const isAll = flagOption(invocation, "all");
  const isNarrowed = Object.keys(filter).length > 0;
  if (ids.length > 0 && (isNarrowed || isAll)) throw usageError("Name runs or choose them by flags, not both.");
  if (ids.length > 0) return { action, ids };
  if (!isNarrowed && !isAll) throw usageError("Name runs, choose them by flags such as --task, or give --all.");
  return { action, filter };
}

function bulkFilter({ io, invocation }: { io: Call["io"]; invocation: Invocation }, job: string | undefined) {
  const flat = Object.entries(listFilter(io, invocation)).filter(([name]) => !name.startsWith("payload."));
  const payload = matches(invocation);
  return {
    ...Object.fromEntries(flat),
    ...(Object.keys(payload).length > 0 && { payload: { ...payload } }),
    ...(job !== undefined && { job_id: job }),
  };
}
