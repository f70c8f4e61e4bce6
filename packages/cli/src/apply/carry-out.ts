import { ApiError, type Client } from "@carillon/client";
import { type Job, type JobCreate, type Problem, plainDefinition } from "@carillon/contract";
import { inParallel } from "../client.js";
import type { PlannedStep } from "./plan.js";

/** Why the server refused a step. */
export type Refusal = Pick<Problem, "status" | "detail" | "errors"> & { readonly code: string };

/** The result of one step. */
export interface StepResult {
  readonly step: PlannedStep;
  /** The job after the step; a batch returns only ids. */
  readonly job?: Pick<Job, "id" | "version" | "warnings">;
  readonly refusal?: Refusal;
}

type CreateStep = Extract<PlannedStep, { action: "create" }>;

const width = 8;
/** From this number on, new jobs are created in batches, which cost far less; their warnings name no job and are not printed. */
const batchFrom = 50;
const batchSize = 100;

/**
 * Executes the plan. A job is changed only if it still has the version that was planned for; a refused job does not stop the others. A job is
 * created after the jobs that it waits for, and cancelled before them.
 */
export async function executeSteps(
  client: Client,
  steps: readonly PlannedStep[],
  onDone: () => void,
): Promise<StepResult[]> {
  const results = new Map<PlannedStep, StepResult>();
  const note = (result: StepResult): void => {
    results.set(result.step, result);
    onDone();
  };
  const ordered = [
    ...waves(steps.filter((step) => step.action !== "cancel").map(withDefinition)),
    ...waves(steps.filter((step) => step.action === "cancel").map(withDefinition)).toReversed(),
  ];
  for (const wave of ordered) {
    const creates = wave.flatMap(({ step }) => (step.action === "create" ? [step] : []));
    const isMany = creates.length >= batchFrom;
    if (isMany) for (const made of await createdInBatches(client, creates)) note(made);
    const others = wave.filter(({ step }) => !isMany || step.action !== "create");
    await inParallel(others, width, async ({ step }) => note(await executeStep(client, step)));
  }
  return steps.flatMap((step) => results.get(step) ?? []);
}

function withDefinition(step: PlannedStep) {
  const definition = "desired" in step ? step.desired.plain : plainDefinition(step.current);
  return { key: step.key, definition, step };
}

async function createdInBatches({ jobs }: Client, steps: readonly CreateStep[]): Promise<StepResult[]> {
  const made: StepResult[] = [];
  for (let from = 0; from < steps.length; from += batchSize) {
    const batch = steps.slice(from, from + batchSize);
    const { results } = await jobs.createMany(batch.map(({ desired }) => desired.body));
    for (const [index, step] of batch.entries()) {
      const { id, problem } = results[index] ?? {};
      made.push({
        step,
        ...(id !== undefined && { job: { id, version: 1 } }),
        ...(problem !== undefined && { refusal: problem }),
      });
    }
  }
  return made;
}

async function executeStep(client: Client, step: PlannedStep): Promise<StepResult> {
  try {
    return { step, job: await sendStep(client, step) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { status, code, message: detail, errors } = error;
    return { step, refusal: { status, code, detail, errors: [...errors] } };
  }
}

function sendStep({ jobs }: Client, step: PlannedStep): Promise<Job> {
  const at = `@${step.key}`;
  switch (step.action) {
    case "create":
      return jobs.create(step.desired.body);
    case "change":
      return jobs.put(at, step.desired.body, { ifVersion: step.current.version });
    case "cancel":
      return jobs.cancel(at, { running: "keep" }, { ifVersion: step.current.version });
    default:
      return Promise.resolve(step.current);
  }
}

interface Keyed {
  readonly key: string;
  readonly definition: Pick<Partial<JobCreate>, "schedule">;
}

/** Groups jobs so that each comes after those that it waits for. The server refuses circles. */
function waves<One extends Keyed>(jobs: readonly One[]): One[][] {
  const byKey = new Map(jobs.map((job) => [job.key, job]));
  const depths = new Map<string, number>();
  const depthOf = (job: One, path: readonly string[]): number => {
    const known = depths.get(job.key);
    if (known !== undefined) return known;
    if (path.includes(job.key)) return 0;
    const upstream = (job.definition.schedule?.after ?? []).flatMap(
      (one) => byKey.get(one.job.replace(/^@/, "")) ?? [],
    );
    const depth = Math.max(-1, ...upstream.map((one) => depthOf(one, [...path, job.key]))) + 1;
    depths.set(job.key, depth);
    return depth;
  };
  const grouped: One[][] = [];
  for (const job of jobs) (grouped[depthOf(job, [])] ??= []).push(job);
  return grouped.filter((wave) => wave !== undefined);
}
