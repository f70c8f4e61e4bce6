import type { Client } from "@carillon/client";
import type { JobExplanation, RunExplanation } from "@carillon/contract";
import type { Invocation } from "./command.js";
import type { Io } from "./io.js";
import { outputForm, renderFields, renderJson, visibleWarnings } from "./output.js";
import { shellWord } from "./undo.js";

/** A run may wait for a run that waits for a run: the printed chain ends here. */
const maxChainLength = 5;

export async function explainRun(io: Io, invocation: Invocation, client: Client, run: string): Promise<void> {
  const explanation = await client.runs.explain(run);
  const form = outputForm(invocation);
  if (form !== "table") return io.out(renderJson(explanation, form));
  await io.out(renderRunExplanation(explanation, await chainOf(client, explanation)));
}

export async function explainJob(io: Io, invocation: Invocation, client: Client, job: string): Promise<void> {
  const explanation = await client.jobs.explain(job);
  const form = outputForm(invocation);
  if (form !== "table") return io.out(renderJson(explanation, form));
  const because = explanation.run === null ? [] : await chainOf(client, explanation.run);
  await io.out(renderJobExplanation(explanation, because));
}

/** The run that this one waits for, the run that that one waits for, and so on. */
async function chainOf(client: Client, first: RunExplanation): Promise<RunExplanation[]> {
  const chain: RunExplanation[] = [];
  for (let one = first; chain.length < maxChainLength;) {
    const next = one.facts["run"];
    if (typeof next !== "string") break;
    one = await client.runs.explain(next);
    chain.push(one);
  }
  return chain;
}

type Field = readonly [name: string, value: unknown];

/** `because`: the chain of runs that it waits for. */
function renderRunExplanation(explanation: RunExplanation, because: readonly RunExplanation[]): string {
  const { run_id, status, code, detail, until } = explanation;
  return renderFields([
    ["run", run_id],
    ["status", status],
    ["why", detail],
    ...because.map(chained),
    ["until", until],
    ["code", code],
    ...tryFields(stepsOfRun(because.at(-1) ?? explanation)),
  ]);
}

function renderJobExplanation(explanation: JobExplanation, because: readonly RunExplanation[]): string {
  const { job_id, state, code, detail, next_run_at, run, outcomes, warnings } = explanation;
  const last = because.at(-1);
  return renderFields([
    ["job", job_id],
    ["state", state],
    ["why", detail],
    ["code", code],
    ["next run", next_run_at],
    ["newest run", run === null ? null : `${run.run_id}: ${run.detail}`],
    ...because.map(chained),
    ...outcomes.map((one): Field => [
      "left out",
      `${one.count} × ${one.reason}, ${one.from} to ${one.to}${one.detail === null ? "" : ` (${one.detail})`}`,
    ]),
    ...visibleWarnings(warnings).map((one): Field => ["warning", one.detail]),
    ...tryFields(stepsOfJob(last === undefined ? explanation : { ...explanation, run: last })),
  ]);
}

const chained = ({ run_id, detail }: RunExplanation): Field => ["and that", `${run_id}: ${detail}`];

const tryFields = (steps: readonly string[]): Field[] => steps.map((step): Field => ["try", step]);

const veryLateMs = 10_000;

/** The commands that may help after this explanation; none if the user can only wait. */
function stepsOfRun({ run_id: id, code, facts }: RunExplanation): readonly string[] {
  const fact = (name: string): string => {
    const value = facts[name];
    return shellWord(typeof value === "string" ? value : "…");
  };
  switch (code) {
    case "ended":
      return facts["status"] === "failed" ? [`carillon run logs ${id}`, `carillon run retry ${id}`] : [];
    case "running":
      return [`carillon run watch ${id}`];
    case "queue_paused":
      return [`carillon queue resume ${fact("queue")}`];
    case "limit_concurrency":
    case "limit_rate":
      return ["carillon limit list"];
    case "limit_order":
      return facts["run"] === undefined ? ["carillon limit list"] : [`carillon run retry ${fact("run")}`];
    case "breaker_open":
      return [`carillon breaker get ${fact("breaker")}`, `carillon breaker reset ${fact("breaker")}`];
    case "position":
      return ["carillon top"];
    case "no_worker_for_task":
      return [startOf(facts["task"]), "carillon task list"];
    case "no_worker_for_queue":
      return [`carillon worker start … --queues ${fact("queue")}`, "carillon worker list"];
    case "no_worker_for_version":
    case "no_worker_with_labels":
    case "only_spot_workers":
    case "workers_cordoned":
      return ["carillon worker list"];
    default:
      return [];
  }
}

/** The same of a job, its newest run included. */
function stepsOfJob(explanation: JobExplanation): readonly string[] {
  const { run } = explanation;
  return [...stepsOfSchedule(explanation), ...(run === null ? [] : stepsOfRun(run))];
}

function stepsOfSchedule({ job_id: id, code, facts }: JobExplanation): readonly string[] {
  if (code === "paused") return [`carillon job resume ${id}`];
  if (code === "manual" || code === "completed") return [`carillon job run ${id}`];
  if (code === "cancelled") return [`carillon job export ${id} | carillon job apply -f -`];
  if (code === "fires_now" && Number(facts["late_ms"]) >= veryLateMs) return ["carillon node list"];
  return [];
}

/** The command that starts a worker for a task without one. */
function startOf(task: unknown): string {
  if (task === "shell") return "carillon worker start --enable-shell";
  return "carillon worker start <module with this task>";
}
