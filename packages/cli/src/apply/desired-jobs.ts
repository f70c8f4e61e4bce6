import { type JobCreate, keyPattern, plainRequest } from "@carillon/contract";
import { CarillonError } from "@carillon/core";
import { CliError } from "../cli-error.js";
import { ExitCode } from "../exit-codes.js";
import type { DeclaredJob } from "./job-file.js";

export interface DesiredJob {
  readonly place: string;
  readonly key: string;
  /** As it was written: this is what is sent. */
  readonly body: JobCreate;
  /** What it means, in plain words: this is what is compared. */
  readonly plain: JobCreate;
}

const key = new RegExp(keyPattern);
const lasting = ["cron", "every", "at", "manual", "after"] as const;

/** Reads what files declare; every fault of every file is named at once. */
export function desiredJobs(declared: readonly DeclaredJob[], now: number): DesiredJob[] {
  const faults: string[] = [];
  const found = new Map<string, DesiredJob>();
  for (const one of declared) {
    const read = desiredJob(one, now);
    if (Array.isArray(read)) {
      faults.push(...read.map((fault) => `${one.place}: ${fault}`));
      continue;
    }
    const other = found.get(read.key);
    if (other === undefined) found.set(read.key, read);
    else faults.push(`${one.place}: the key ${read.key} is that of ${other.place} as well`);
  }
  if (faults.length > 0)
    throw new CliError(ExitCode.usage, `nothing was changed:${faults.map((fault) => `\n  - ${fault}`).join("")}`);
  return [...found.values()];
}

function desiredJob({ place, body }: DeclaredJob, now: number): DesiredJob | string[] {
  const { key: name } = body;
  if (typeof name !== "string" || !key.test(name))
    return [
      "a job in a file needs a key, by which it is found again: 1 to 200 letters, digits, dots, dashes and underscores",
    ];
  const fault = scheduleFault(body);
  if (fault !== null) return [`${name}: ${fault}`];
  try {
    return { place, key: name, body, plain: plainRequest(body, { now }) };
  } catch (error) {
    if (!(error instanceof CarillonError)) throw error;
    const { items } = error;
    if (items.length === 0) return [`${name}: ${error.message}`];
    return items.map(({ pointer, detail }) => `${name}: ${pointer}: ${detail}`);
  }
}

/** What counts from the moment of the call would be another job each time. */
function scheduleFault(body: DeclaredJob["body"]): string | null {
  const { schedule, cron, cron_expression: expression, schedule_time: time } = body;
  if ([cron, expression, time].some((one) => one !== undefined)) return null;
  const isSaid = typeof schedule === "object" && schedule !== null && lasting.some((kind) => kind in schedule);
  if (isSaid) return null;
  return `its schedule must be one of ${lasting.join(", ")}: the same file is applied again and again`;
}
