import type { JobCreate } from "@carillon/contract";
import { CarillonError, previewSchedule, type PreviewedFire } from "@carillon/core";
import { NO_JOB } from "../input/cron-flags.js";
import type { Crontab, CrontabEntry, CrontabFault } from "./parse-crontab.js";

export interface CrontabChoices {
  /** Becomes the first part of the keys and a label. */
  readonly name: string;
  /** Where no CRON_TZ says another. */
  readonly timeZone: string;
  readonly queue: string | null;
  readonly cwd: string | null;
  readonly now: number;
}

export interface CrontabJob {
  readonly line: number;
  readonly job: JobCreate & { readonly key: string };
  /** The next times, and the schedule in words. */
  readonly description: string;
  readonly fires: readonly PreviewedFire[];
}

export interface CrontabJobs {
  readonly jobs: readonly CrontabJob[];
  readonly faults: readonly CrontabFault[];
}

/** The label by which jobs of one crontab are found again. */
export const crontabLabel = "crontab";

const shownFires = 3;
const longestSlug = 60;
/** Directions to cron itself, not to the command. */
const directions = new Set([
  "SHELL",
  "MAILTO",
  "MAILFROM",
  "CRON_TZ",
  "CONTENT_TYPE",
  "CONTENT_TRANSFER_ENCODING",
  "RANDOM_DELAY",
]);
/** What the executor sets itself, or what would load other code into a program. */
const refusedVariable = /^(?:CARILLON_.*|LD_.*|DYLD_.*|NODE_OPTIONS|BASH_ENV|ENV)$/;

/** Each line as a shell job that does what cron does: never twice, not made up for when missed, beside one that still runs. */
export function crontabJobs({ entries, faults }: Crontab, choices: CrontabChoices): CrontabJobs {
  const jobs: CrontabJob[] = [];
  const refused = [...faults];
  const keys = new Map<string, number>();
  for (const entry of entries) {
    const read = readJob(entry, choices, keys);
    if (typeof read === "string") refused.push({ line: entry.line, text: entry.text, reason: read });
    else jobs.push(read);
  }
  return { jobs, faults: refused.sort((a, b) => a.line - b.line) };
}

function readJob(entry: CrontabEntry, choices: CrontabChoices, keys: Map<string, number>): CrontabJob | string {
  const bad = Object.keys(entry.env).find((name) => refusedVariable.test(name));
  if (bad !== undefined) return `the shell executor sets no ${bad}; set it inside a script of yours`;
  const timeZone = entry.env["CRON_TZ"] || choices.timeZone;
  const dayMatch = needsBothDays(entry.cron) ? ({ dayMatch: "and" } as const) : {};
  try {
    const spec = { kind: "cron", cron: entry.cron, timeZone, ...dayMatch } as const;
    const { description, fires } = previewSchedule(spec, NO_JOB, { from: choices.now, count: shownFires });
    return {
      line: entry.line,
      job: jobOf(entry, choices, { key: keyOf(entry, choices, keys), timeZone }),
      description,
      fires,
    };
  } catch (error) {
    if (error instanceof CarillonError) return error.message;
    throw error;
  }
}

function jobOf(
  entry: CrontabEntry,
  { name, queue, cwd }: CrontabChoices,
  { key, timeZone }: { readonly key: string; readonly timeZone: string },
): CrontabJob["job"] {
  const { command, cron, env: given, stdin, user } = entry;
  const env = Object.fromEntries(Object.entries(given).filter(([variable]) => !directions.has(variable)));
  const folder = cwd ?? given["HOME"] ?? null;
  return {
    key,
    task: "shell",
    schedule: { cron, time_zone: timeZone, ...(needsBothDays(cron) && { day_match: "and" as const }) },
    payload: {
      command: [given["SHELL"] || "/bin/sh", "-c", command],
      ...(Object.keys(env).length > 0 && { env }),
      ...(folder !== null && { cwd: folder }),
      ...(stdin !== null && { stdin }),
    },
    ...(queue !== null && { queue }),
    guarantee: "at_most_once",
    overlap: "allow",
    misfire: "skip",
    // A command of root's must not run as somebody else: only workers that say whose they are get it.
    ...(user !== null && { requires: { user } }),
    labels: { [crontabLabel]: name },
  };
}

/** Cron takes a day field that begins with a star for one that says nothing: then the other one must match as well. */
function needsBothDays(cron: string): boolean {
  const [, , day = "*", , weekday = "*"] = cron.split(" ");
  return day !== "*" && weekday !== "*" && (day.startsWith("*") || weekday.startsWith("*"));
}

/** Said by the command, so that the same line is the same job when the crontab is imported again. */
function keyOf({ command }: CrontabEntry, { name }: CrontabChoices, keys: Map<string, number>): string {
  const slug = command
    .replaceAll(/[^A-Za-z0-9]+/g, "-")
    .replace(/^-/, "")
    .slice(0, longestSlug)
    .replace(/-$/, "");
  const key = `${name}-${slug || "job"}`;
  const count = (keys.get(key) ?? 0) + 1;
  keys.set(key, count);
  return count === 1 ? key : `${key}-${count}`;
}
