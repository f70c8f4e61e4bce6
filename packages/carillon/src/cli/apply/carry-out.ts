import { ApiError, type Client } from "@carillon/client";
import { type Job, plainDefinition } from "@carillon/contract";
import { inParallel } from "./in-parallel.js";
import type { PlannedStep } from "./plan.js";
import { waves } from "./waves.js";

/** What became of one step. */
export interface StepResult {
  readonly step: PlannedStep;
  /** The job as it is now. */
  readonly job?: Job;
  readonly problem?: ApiError;
}

const width = 8;

/**
 * Does what was planned, each job on the condition that it is still as it was looked at; one that is refused does not stop the others. A
 * job is made after those that it waits for, and cancelled before them.
 */
export async function carryOut(
  client: Client,
  steps: readonly PlannedStep[],
  onDone: () => void,
): Promise<StepResult[]> {
  const results = new Map<PlannedStep, StepResult>();
  const ordered = [
    ...waves(steps.filter((step) => step.action !== "cancel").map(placed)),
    ...waves(steps.filter((step) => step.action === "cancel").map(placed)).toReversed(),
  ];
  for (const wave of ordered) {
    await inParallel(wave, width, async ({ step }) => {
      results.set(step, await carriedOut(client, step));
      onDone();
    });
  }
  return steps.flatMap((step) => results.get(step) ?? []);
}

function placed(step: PlannedStep) {
  const definition = "desired" in step ? step.desired.plain : plainDefinition(step.current);
  return { key: step.key, definition, step };
}

async function carriedOut(client: Client, step: PlannedStep): Promise<StepResult> {
  try {
    return { step, job: await done(client, step) };
  } catch (error) {
    if (error instanceof ApiError) return { step, problem: error };
    throw error;
  }
}

function done({ jobs }: Client, step: PlannedStep): Promise<Job> {
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
