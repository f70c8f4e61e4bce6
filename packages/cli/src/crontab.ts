import type { JobCreate } from "@carillon/contract";
import { CarillonError, type PreviewedFire, previewSchedule } from "@carillon/core";

export interface CrontabChoices {
  /** Becomes the first part of the keys and a label. */
  readonly name: string;
  /** For lines without a CRON_TZ. */
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

/** The label of all jobs of one crontab. */
export const crontabLabel = "crontab";

const shownFires = 3;
const maxSlugLength = 60;
/** Variables for cron itself, not for the command. */
const directions = new Set([
  "SHELL",
  "MAILTO",
  "MAILFROM",
  "CRON_TZ",
  "CONTENT_TYPE",
  "CONTENT_TRANSFER_ENCODING",
  "RANDOM_DELAY",
]);
/** Variables that the executor sets itself, or that would load other code into a program. */
const refusedVariable = /^(?:CARILLON_.*|LD_.*|DYLD_.*|NODE_OPTIONS|BASH_ENV|ENV)$/;

/** Each line as a shell job that behaves as under cron: at most once, missed times skipped, overlapping runs allowed. */
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
    const { description, fires } = previewSchedule(spec, { jobId: "" }, { from: choices.now, count: shownFires });
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
    // A command of root must not run as another user: only workers with the user's label get it.
    ...(user !== null && { requires: { user } }),
    labels: { [crontabLabel]: name },
  };
}

/** Cron ignores a day field that begins with a star when it chooses between either and both: then both must match. */
function needsBothDays(cron: string): boolean {
  const [, , day = "*", , weekday = "*"] = cron.split(" ");
  return day !== "*" && weekday !== "*" && (day.startsWith("*") || weekday.startsWith("*"));
}

/** Made from the command, so that the same line is the same job in the next import. */
function keyOf({ command }: CrontabEntry, { name }: CrontabChoices, keys: Map<string, number>): string {
  const slug = command
    .replaceAll(/[^A-Za-z0-9]+/g, "-")
    .replace(/^-/, "")
    .slice(0, maxSlugLength)
    .replace(/-$/, "");
  const key = `${name}-${slug || "job"}`;
  const count = (keys.get(key) ?? 0) + 1;
  keys.set(key, count);
  return count === 1 ? key : `${key}-${count}`;
}

/** One line of a crontab that runs something. */
export interface CrontabEntry {
  readonly line: number;
  /** The whole line. */
  readonly text: string;
  /** Five fields, or a macro such as @daily. */
  readonly cron: string;
  /** Only in system crontabs. */
  readonly user: string | null;
  readonly command: string;
  /** The command's standard input: the text after the first unescaped %. */
  readonly stdin: string | null;
  /** The variables set on the lines above. */
  readonly env: Readonly<Record<string, string>>;
}

/** A line that cannot be imported, and why. */
export interface CrontabFault {
  readonly line: number;
  readonly text: string;
  readonly reason: string;
}

export interface Crontab {
  readonly entries: readonly CrontabEntry[];
  readonly faults: readonly CrontabFault[];
}

const macros = new Set(["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"]);
const variableLine = /^\s*(["']?)([A-Za-z_]\w*)\1\s*=\s*(.*)$/;
const fieldCount = 5;

/** Parses a user's crontab, or a system crontab, whose sixth field is the user. */
export function parseCrontab(text: string, { isSystem }: { readonly isSystem: boolean }): Crontab {
  const entries: CrontabEntry[] = [];
  const faults: CrontabFault[] = [];
  let env: Readonly<Record<string, string>> = {};
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    // A leading dash only keeps the line out of the system's log.
    const source = raw.trim().replace(/^-(?=\S)/, "");
    if (source === "" || source.startsWith("#")) continue;
    const [, , name, value] = variableLine.exec(source) ?? [];
    if (name !== undefined && value !== undefined) {
      env = { ...env, [name]: unquoted(value.trim()) };
      continue;
    }
    const read = readEntry(source, isSystem);
    if ("reason" in read) faults.push({ line: index + 1, text: source, reason: read.reason });
    else entries.push({ line: index + 1, text: source, env, ...read });
  }
  return { entries, faults };
}

type ReadEntry = Omit<CrontabEntry, "line" | "text" | "env"> | { readonly reason: string };

function readEntry(source: string, isSystem: boolean): ReadEntry {
  const isMacro = source.startsWith("@");
  const words = isMacro ? 1 : fieldCount;
  const shape = new RegExp(`^((?:\\S+\\s+){${words}})${isSystem ? "(\\S+)\\s+" : "()"}(\\S.*)$`);
  const [, schedule, user, rest] = shape.exec(source) ?? [];
  if (schedule === undefined || user === undefined || rest === undefined) {
    const fields = `${isMacro ? "a macro" : "five fields"}${isSystem ? ", a user" : ""} and a command`;
    return { reason: `a line has ${fields}, or is NAME=value` };
  }
  const cron = schedule.trim().split(/\s+/).join(" ");
  const refused = whyRefused(cron, isMacro);
  if (refused !== null) return { reason: refused };
  const parts = splitAtPercent(rest);
  if (parts.command === "") return { reason: "there is no command before the %" };
  return { cron, user: isSystem ? user : null, ...parts };
}

function whyRefused(cron: string, isMacro: boolean): string | null {
  if (cron.toLowerCase() === "@reboot")
    return "a scheduler for several machines has no boot to wait for; start the command from the service manager of its machine";
  if (isMacro && !macros.has(cron.toLowerCase())) return `${cron} is none of ${[...macros].join(", ")}`;
  if (cron.includes("~"))
    return "~ is another time on each start of cron; give a time, and jitter in the job if it should vary";
  return null;
}

/** The first unescaped % ends the command; later ones are line ends of its standard input. */
function splitAtPercent(text: string): Pick<CrontabEntry, "command" | "stdin"> {
  const parts = text.split(/(?<!\\)%/).map((part) => part.replaceAll(String.raw`\%`, "%"));
  const [command = "", ...lines] = parts;
  return { command: command.trim(), stdin: lines.length === 0 ? null : `${lines.join("\n")}\n` };
}

function unquoted(value: string): string {
  return /^(["'])(.*)\1$/.exec(value)?.[2] ?? value;
}
