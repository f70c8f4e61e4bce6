import type { Client } from "@carillon/client";
import type { DeadLetterAction, DeadLetterActionDone, DeadLetterResult, Run } from "@carillon/contract";
import type { Command } from "commander";
import { withServerAddress } from "./client.js";
import { type Invocation, flagOption } from "./command.js";
import { CliError, ExitCode } from "./exit-codes.js";
import { deadLetterFilter, withDeadLetterFilter } from "./input/dead-letter-filter.js";
import type { Io } from "./io.js";
import { outputForm, renderJson, renderRows, withOutputForm } from "./output.js";
import { renderRun } from "./output/run-view.js";
import { ProgressLine } from "./progress-line.js";
import { renderTable } from "./table.js";
import { printNoUndo } from "./undo.js";

const pageSize = 100;

export function withDeadLetterAction(command: Command): Command {
  return withServerAddress(withOutputForm(withDeadLetterFilter(command)))
    .argument("[run]", "the id of one; without it, all that the flags name")
    .option("--all", "every dead letter")
    .option("--dry-run", "only say which ones it would be");
}

/** To act on everything there is takes a word of its own. */
async function bulkAction(io: Io, invocation: Invocation, client: Client): Promise<DeadLetterAction> {
  const filter = await deadLetterFilter(io, invocation, client);
  if (Object.keys(filter).length === 0 && !flagOption(invocation, "all") && !flagOption(invocation, "dryRun"))
    throw new CliError(ExitCode.usage, "name a run, say which ones by flags such as --task, or say --all");
  return { filter, page_size: pageSize, ...(flagOption(invocation, "dryRun") && { dry_run: true }) };
}

/** The one that was named, and nothing beside it; undefined: those that flags name. */
export function oneDeadLetter(invocation: Invocation): string | undefined {
  const [id] = invocation.args;
  const others = ["task", "queue", "job", "fingerprint", "since", "until", "after", "before", "all"];
  if (id !== undefined && others.some((name) => invocation.options[name] !== undefined))
    throw new CliError(ExitCode.usage, "name a run, or say which ones by flags; not both");
  return id;
}

/** What a dry run about one says. */
export async function showOne(io: Io, invocation: Invocation, run: Run, done: string): Promise<void> {
  const form = outputForm(invocation);
  await io.out(form === "table" ? renderRun(run) : renderJson(run, form));
  io.info(`carillon: it would be ${done}; nothing was changed`);
}

/** Page by page, until none is left; what was done is said as it goes. Answers whether all went well. */
export async function actOnAll(
  io: Io,
  invocation: Invocation,
  client: Client,
  verb: {
    readonly done: string;
    readonly instead: string;
    act(action: DeadLetterAction): Promise<DeadLetterActionDone>;
  },
): Promise<boolean> {
  const action = await bulkAction(io, invocation, client);
  const results: DeadLetterResult[] = [];
  const counts = { done: 0, refused: 0 };
  const line = new ProgressLine(io);
  let token: string | null = null;
  do {
    const page: DeadLetterActionDone = await verb.act({ ...action, ...(token !== null && { page_token: token }) });
    results.push(...page.results);
    counts.done += page.done;
    counts.refused += page.refused;
    token = page.next_page_token;
    if (token !== null) line.show(`${counts.done} ${verb.done} so far`);
  } while (token !== null);
  line.clear();
  const form = outputForm(invocation);
  if (form !== "table") await io.out(renderRows(results, form));
  else if (results.length > 0) await io.out(renderTable(columns, results));
  const isDry = action.dry_run === true;
  if (isDry) io.info(`carillon: ${results.length} would be ${verb.done}; nothing was changed`);
  else printNoUndo(io, `${counts.done} ${verb.done}, ${counts.refused} refused`, verb.instead);
  return counts.refused === 0;
}

const columns = [
  { title: "ID", value: ({ id }: DeadLetterResult) => id },
  { title: "NEW RUN", value: (result: DeadLetterResult) => result.run_id },
  { title: "REFUSED", value: ({ problem }: DeadLetterResult) => problem?.detail },
];
