import type { DeadLetterAction, DeadLetterActionDone, DeadLetterResult, ErrorGroup, Run } from "@carillon/contract";
import type { Command } from "commander";
import { type Commands, flagOption, type Invocation, textFields, textOption } from "../command.js";
import { ExitCode, usageError } from "../exit-codes.js";
import { pastTime } from "../flags.js";
import type { Io } from "../io.js";
import { jobIdOption, withJobOption } from "../job-flags.js";
import { type Column, fieldColumns, outputForm, printThing, renderRows, renderTable } from "../output.js";
import { ProgressLine } from "../progress-line.js";
import { printNoUndo, printUndo } from "../undo.js";
import { type Call, listCommand, printChange, serverCommand } from "../verbs.js";
import { retryRun, run } from "./run.js";

const pageSize = 100;

const columns: readonly Column<Run>[] = [
  ...fieldColumns("id", "task"),
  { title: "REASON", value: (one) => one.status_reason },
  { title: "ATTEMPT", value: (one) => `${one.attempt}/${one.max_attempts}` },
  { title: "FAILED", value: (one) => one.finished_at },
  { title: "KIND", value: ({ error }) => error?.fingerprint },
  { title: "ERROR", value: ({ error }) => (error === null ? null : `${error.type}: ${error.message}`) },
];

const resultColumns: readonly Column<DeadLetterResult>[] = [
  { title: "ID", value: ({ id }) => id },
  { title: "NEW RUN", value: (result) => result.run_id },
  { title: "REFUSED", value: ({ problem }) => problem?.detail },
];

const errorGroupColumns: readonly Column<ErrorGroup>[] = [
  { title: "KIND", value: ({ fingerprint }) => fingerprint },
  { title: "COUNT", value: ({ count }) => count, align: "right" },
  { title: "LAST SEEN", value: (group) => group.last_seen_at },
  { title: "TASKS", value: ({ tasks }) => tasks.join(", ") },
  { title: "ERROR", value: ({ type, message }) => `${type}: ${message}` },
];

const withFilter = (target: Command): Command =>
  withJobOption(target.option("--task <name>", "only of this task").option("--queue <name>", "only in this queue"))
    .option("--fingerprint <kind>", "only with this kind of error; see carillon error-group list")
    .option("--since <time>", "only those that failed then or later: a time, or 2h for two hours ago")
    .option("--until <time>", "only those that failed before then, in the same way");

async function filterOf({ io, invocation, client }: Call): Promise<NonNullable<DeadLetterAction["filter"]>> {
  const jobId = await jobIdOption(invocation, client);
  const [since, until] = [textOption(invocation, "since"), textOption(invocation, "until")];
  return {
    ...textFields(invocation, ["task", "queue", "fingerprint"]),
    ...(jobId !== undefined && { job_id: jobId }),
    ...(since !== undefined && { failed_after: pastTime(since, io.now()) }),
    ...(until !== undefined && { failed_before: pastTime(until, io.now()) }),
  };
}

const withOneOrMany = (target: Command): Command =>
  withFilter(target.argument("[run]", "the id of one; without it, all that match the flags"))
    .option("--all", "every dead letter")
    .option("--dry-run", "only print which ones it would be");

export const deadLetterCommands: Commands = {
  list: listCommand({
    summary: "list runs that failed for good",
    rows: "dead_letters",
    columns,
    define: withFilter,
    notes: "Newest first, without those that were retried or discarded.",
    examples: ["carillon dead-letter list --task email.welcome"],
    filter: filterOf,
    page: ({ client }, query) => client.deadLetters.list(query),
  }),
  redrive: serverCommand(null, {
    changes: true,
    summary: "retry one, or all that match a filter",
    define: withOneOrMany,
    notes: "Each is retried once, as a new run, under the overlap policy of its job.",
    examples: [
      "carillon dead-letter redrive run_01k9zq3v5e0r8t2b7n4m6x1c9d",
      "carillon dead-letter redrive --task email.welcome --dry-run",
    ],
    async run(call) {
      const { io, invocation, client } = call;
      const id = oneDeadLetter(invocation);
      if (id === undefined)
        return actOnAll(call, {
          done: "retried",
          instead: "cancel a new run with carillon run cancel <new run>",
          act: (action) => client.deadLetters.redriveMany(action),
        });
      if (flagOption(invocation, "dryRun")) return printDryRun(call, id, "retried");
      const retried = await retryRun(client, id);
      await printThing(io, invocation, retried.thing, run.render);
      printChange(call, retried);
    },
  }),
  discard: serverCommand(null, {
    changes: true,
    summary: "discard one, or all that match a filter",
    define: withOneOrMany,
    notes: "They are no longer listed; the runs stay in history, and a retry undoes it.",
    examples: [
      "carillon dead-letter discard run_01k9zq3v5e0r8t2b7n4m6x1c9d",
      "carillon dead-letter discard --fingerprint 9f86d081884c7d65",
    ],
    async run(call) {
      const { io, invocation, client } = call;
      const id = oneDeadLetter(invocation);
      if (id === undefined)
        return actOnAll(call, {
          done: "discarded",
          instead: "retry one with carillon run retry <id>",
          act: (action) => client.deadLetters.discardMany(action),
        });
      if (flagOption(invocation, "dryRun")) return printDryRun(call, id, "discarded");
      await client.deadLetters.discard(id);
      printUndo(io, invocation, "discarded", `run retry ${id}`);
    },
  }),
};

export const errorGroupCommands: Commands = {
  list: listCommand({
    summary: "list the kinds of errors",
    rows: "error_groups",
    noun: "kinds of errors",
    columns: errorGroupColumns,
    define: (target) => target.option("--task <name>", "only those that this task had"),
    notes: "The kinds of errors that runs had, the latest first.",
    examples: ["carillon error-group list --task email.welcome"],
    filter: ({ invocation }) => textFields(invocation, ["task"]),
    page: ({ client }, query) => client.errorGroups.list(query),
  }),
};

/** The named one; undefined: those that match the flags. */
function oneDeadLetter(invocation: Invocation): string | undefined {
  const [id] = invocation.args;
  const filters = ["task", "queue", "job", "fingerprint", "since", "until", "all"];
  if (id !== undefined && filters.some((name) => invocation.options[name] !== undefined))
    throw usageError("Name a run or choose them by flags, not both.");
  return id;
}

async function printDryRun({ io, invocation, client }: Call, id: string, done: string): Promise<void> {
  await printThing(io, invocation, await client.runs.get(id), run.render);
  io.info(`carillon: it would be ${done}; nothing was changed`);
}

interface ActionOnMany {
  /** "retried" */
  readonly done: string;
  /** What the user can do in place of an undo. */
  readonly instead: string;
  readonly act: (action: DeadLetterAction) => Promise<DeadLetterActionDone>;
}

/** Page by page, until none is left. */
async function actOnAll(call: Call, { done, instead, act }: ActionOnMany): Promise<ExitCode> {
  const { io, invocation } = call;
  const action = await actionOf(call);
  const results: DeadLetterResult[] = [];
  const counts = { done: 0, refused: 0 };
  const line = new ProgressLine(io);
  let token: string | null = null;
  do {
    const page: DeadLetterActionDone = await act({ ...action, ...(token !== null && { page_token: token }) });
    results.push(...page.results);
    counts.done += page.done;
    counts.refused += page.refused;
    token = page.next_page_token;
    if (token !== null) line.show(`${counts.done} ${done} so far`);
  } while (token !== null);
  line.clear();
  await printResults(io, invocation, results);
  if (action.dry_run === true) io.info(`carillon: ${results.length} would be ${done}; nothing was changed`);
  else printNoUndo(io, `${counts.done} ${done}, ${counts.refused} refused`, instead);
  return counts.refused === 0 ? ExitCode.ok : ExitCode.failure;
}

async function printResults(io: Io, invocation: Invocation, results: readonly DeadLetterResult[]): Promise<void> {
  const form = outputForm(invocation);
  if (form !== "table") await io.out(renderRows(results, form));
  else if (results.length > 0) await io.out(renderTable(resultColumns, results));
}

/** Acting on every dead letter needs --all. */
async function actionOf(call: Call): Promise<DeadLetterAction> {
  const filter = await filterOf(call);
  const isDryRun = flagOption(call.invocation, "dryRun");
  if (Object.keys(filter).length === 0 && !flagOption(call.invocation, "all") && !isDryRun)
    throw usageError("Name a run, choose them by flags such as --task, or give --all.");
  return { filter, page_size: pageSize, ...(isDryRun && { dry_run: true }) };
}
