import type { Client } from "@carillon/client";
import { flagOption, type Invocation } from "../command.js";
import { ExitCode, exitCodeOfStatus } from "../exit-codes.js";
import type { Io } from "../io.js";
import { outputForm, painter, plainText, renderRows, visibleWarnings } from "../output.js";
import { CountLine } from "../progress-line.js";
import { undoLine, undoOfCancel } from "../undo.js";
import { executeSteps, type StepResult } from "./carry-out.js";
import { type Difference, planJobs, type PlannedStep, planPrune } from "./plan.js";
import type { DesiredJob } from "./read-jobs.js";

export interface ApplyOptions {
  readonly client: Client;
  readonly desired: readonly DesiredJob[];
  /** Jobs that match it and are not desired are cancelled; null for none. */
  readonly pruneSelector: string | null;
}

/** Prints the plan, and executes it unless this is a dry run, which has an exit code of its own if anything would change. */
export async function applyJobs(io: Io, invocation: Invocation, options: ApplyOptions): Promise<ExitCode> {
  const { client, desired, pruneSelector } = options;
  const comparing = new CountLine(io, desired.length, "compared");
  const planned = await planJobs(client, desired, { now: io.now(), onCompared: () => comparing.step() });
  comparing.end();
  const keys = new Set(desired.map(({ key }) => key));
  const pruned = pruneSelector === null ? [] : await planPrune(client, pruneSelector, keys);
  const steps = [...planned, ...pruned];
  const form = outputForm(invocation);
  if (form === "table") await io.out(renderPlan(steps, io.stdoutColour));
  if (flagOption(invocation, "dryRun")) {
    if (form !== "table") await io.out(renderRows(steps.map(planJson), form));
    io.info(`carillon: ${planCounts(steps, would)}; nothing was changed`);
    return steps.every(({ action }) => action === "keep") ? ExitCode.ok : ExitCode.wouldChange;
  }
  const changes = steps.filter(({ action }) => action !== "keep");
  const doing = new CountLine(io, changes.length, "done");
  const results = await executeSteps(client, changes, () => doing.step());
  doing.end();
  if (form !== "table") await io.out(renderRows([...results.map(resultJson), ...kept(steps)], form));
  return printResults(io, invocation, steps, results);
}

const would = { create: "to create", change: "to change", cancel: "to cancel", keep: "unchanged" };
const were = { create: "created", change: "changed", cancel: "cancelled", keep: "unchanged" };
const kept = (steps: readonly PlannedStep[]) => steps.filter(({ action }) => action === "keep").map(planJson);

/** A longer list of undo commands would not be read. */
const maxUndos = 20;

function printResults(
  io: Io,
  invocation: Invocation,
  steps: readonly PlannedStep[],
  results: readonly StepResult[],
): ExitCode {
  const done = results.filter(({ job }) => job !== undefined);
  for (const { step, job } of done)
    for (const { detail } of visibleWarnings(job?.warnings ?? []))
      io.info(`carillon: warning: @${step.key}: ${detail}`);
  const keeps = steps.filter(({ action }) => action === "keep");
  io.info(`carillon: ${planCounts([...done.map(({ step }) => step), ...keeps], were)}`);
  for (const result of done.slice(0, maxUndos)) {
    const { step } = result;
    io.info(`carillon: @${step.key} ${were[step.action]}; undo with: ${undoLine(invocation, undoOf(result))}`);
  }
  if (done.length > maxUndos) io.info(`carillon: and so on for ${done.length - maxUndos} more`);
  const refused = results.flatMap(({ step, refusal }) => (refusal === undefined ? [] : [{ step, refusal }]));
  for (const { step, refusal } of refused) {
    const faults = refusal.errors.map(({ pointer, detail }) => `\n  - ${pointer}: ${detail}`);
    io.info(`carillon: @${step.key} was refused: ${refusal.detail} (${refusal.code})${faults.join("")}`);
  }
  const [first] = refused;
  return first === undefined ? ExitCode.ok : exitCodeOfStatus(first.refusal.status);
}

function undoOf({ step }: StepResult): string {
  switch (step.action) {
    case "change":
      return `job rollback @${step.key} ${step.current.version}`;
    case "cancel":
      return undoOfCancel(step.current);
    default:
      return `job cancel @${step.key}`;
  }
}

function resultJson({ step, job, refusal }: StepResult): object {
  return {
    ...planJson(step),
    ...(job !== undefined && { id: job.id, version: job.version }),
    ...(refusal !== undefined && { problem: refusal }),
  };
}

const marks = { create: ["+", "green"], change: ["~", "yellow"], cancel: ["-", "red"] } as const;

/** What would happen to each job, for people; unchanged jobs are only counted. */
function renderPlan(steps: readonly PlannedStep[], colour: boolean): string {
  const paint = painter(colour);
  const lines = steps.flatMap((step) => {
    if (step.action === "keep") return [];
    const [mark, style] = marks[step.action];
    const note = step.action === "cancel" ? " (in no file)" : "";
    const changes = step.action === "cancel" ? [] : step.differences.filter(({ path }) => path !== "key");
    return [
      paint(style, `${mark} ${step.action} @${step.key}${note}`),
      ...changes.map((one) => `    ${changeText(one)}`),
    ];
  });
  return lines.map((line) => `${line}\n`).join("");
}

function changeText({ path, before, after }: Difference): string {
  const name = plainText(path);
  if (before === undefined) return `${name}: ${shown(after)}`;
  return `${name}: ${shown(before)} → ${after === undefined ? "(left out)" : shown(after)}`;
}

const longest = 200;

function shown(value: unknown): string {
  const text = plainText(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
  return text.length <= longest ? text : `${text.slice(0, longest)}…`;
}

/** The counts in a sentence. */
function planCounts(steps: readonly PlannedStep[], words: Readonly<Record<PlannedStep["action"], string>>): string {
  const parts = (["create", "change", "cancel", "keep"] as const).flatMap((action) => {
    const count = steps.filter((step) => step.action === action).length;
    return count === 0 ? [] : [`${count} ${words[action]}`];
  });
  return parts.length === 0 ? "nothing to do" : parts.join(", ");
}

/** A step for machines. */
function planJson(step: PlannedStep): object {
  return {
    action: step.action,
    key: step.key,
    id: "current" in step ? step.current.id : null,
    version: "current" in step ? step.current.version : null,
    differences: "differences" in step ? step.differences : [],
  };
}
