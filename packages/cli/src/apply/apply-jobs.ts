import type { Client } from "@carillon/client";
import { flagOption, type Invocation } from "../command.js";
import { ExitCode, exitCodeOfStatus } from "../exit-codes.js";
import type { Io } from "../io.js";
import { outputForm, renderRows } from "../output/form.js";
import { planCounts, planJson, renderPlan } from "../output/plan-view.js";
import { CountLine } from "../output/progress-line.js";
import { worthSaying } from "../output/worth-saying.js";
import { undoLine } from "../output/undo.js";
import { undoOfCancel } from "../output/undo-of.js";
import { carryOut, type StepResult } from "./carry-out.js";
import type { DesiredJob } from "./desired-jobs.js";
import { planJobs, planPrune, type PlannedStep } from "./plan.js";

export interface ApplyOptions {
  readonly client: Client;
  readonly desired: readonly DesiredJob[];
  /** Whose jobs are cancelled when they are not among the desired; null for none. */
  readonly pruneSelector: string | null;
}

/** Shows what is to change, and changes it unless it is a dry run, which ends with a code of its own if it would. */
export async function applyJobs(io: Io, invocation: Invocation, options: ApplyOptions): Promise<ExitCode> {
  const { client, desired, pruneSelector } = options;
  const looking = new CountLine(io, desired.length, "looked at");
  const planned = await planJobs(client, desired, { now: io.now(), onLooked: () => looking.step() });
  looking.end();
  const keys = new Set(desired.map(({ key }) => key));
  const pruned = pruneSelector === null ? [] : await planPrune(client, pruneSelector, keys);
  const steps = [...planned, ...pruned];
  const form = outputForm(invocation);
  if (form === "table") await io.out(renderPlan(steps, io.outColour));
  if (flagOption(invocation, "dryRun")) {
    if (form !== "table") await io.out(renderRows(steps.map(planJson), form));
    io.talk(`carillon: ${planCounts(steps, would)}; nothing was changed`);
    return steps.every(({ action }) => action === "keep") ? ExitCode.ok : ExitCode.wouldChange;
  }
  const changes = steps.filter(({ action }) => action !== "keep");
  const doing = new CountLine(io, changes.length, "done");
  const results = await carryOut(client, changes, () => doing.step());
  doing.end();
  if (form !== "table") await io.out(renderRows([...results.map(resultJson), ...kept(steps)], form));
  return sayResults(io, invocation, steps, results);
}

const would = { create: "to create", change: "to change", cancel: "to cancel", keep: "unchanged" };
const were = { create: "created", change: "changed", cancel: "cancelled", keep: "unchanged" };
const kept = (steps: readonly PlannedStep[]) => steps.filter(({ action }) => action === "keep").map(planJson);

/** The undo of more than so many is not read line by line. */
const mostUndos = 20;

function sayResults(
  io: Io,
  invocation: Invocation,
  steps: readonly PlannedStep[],
  results: readonly StepResult[],
): ExitCode {
  const done = results.filter(({ job }) => job !== undefined);
  for (const { step, job } of done)
    for (const { detail } of worthSaying(job?.warnings ?? [])) io.talk(`carillon: warning: @${step.key}: ${detail}`);
  const keeps = steps.filter(({ action }) => action === "keep");
  io.talk(`carillon: ${planCounts([...done.map(({ step }) => step), ...keeps], were)}`);
  for (const result of done.slice(0, mostUndos)) {
    const { step } = result;
    io.talk(`carillon: @${step.key} ${were[step.action]}; undo with: ${undoLine(invocation, undoOf(result))}`);
  }
  if (done.length > mostUndos) io.talk(`carillon: and so on for ${done.length - mostUndos} more`);
  const refused = results.flatMap(({ step, refusal }) => (refusal === undefined ? [] : [{ step, refusal }]));
  for (const { step, refusal } of refused) {
    const faults = refusal.errors.map(({ pointer, detail }) => `\n  - ${pointer}: ${detail}`);
    io.talk(`carillon: @${step.key} was refused: ${refusal.detail} (${refusal.code})${faults.join("")}`);
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
