/** One line of a crontab that runs something. */
export interface CrontabEntry {
  readonly line: number;
  /** As it stands there. */
  readonly text: string;
  /** Five fields, or a macro such as @daily. */
  readonly cron: string;
  /** In system crontabs. */
  readonly user: string | null;
  readonly command: string;
  /** What the command reads: the text after the first unescaped %. */
  readonly stdin: string | null;
  /** The variables above it. */
  readonly env: Readonly<Record<string, string>>;
}

/** A line that cannot be taken over, and why. */
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

/** Reads a crontab: that of a user, or with the user as a sixth field that of the system. */
export function parseCrontab(text: string, { isSystem }: { readonly isSystem: boolean }): Crontab {
  const entries: CrontabEntry[] = [];
  const faults: CrontabFault[] = [];
  let env: Readonly<Record<string, string>> = {};
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    // A dash in front only keeps the line out of the system's log.
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
    return "a scheduler of several machines has no boot to wait for; start it from the service manager of its machine";
  if (isMacro && !macros.has(cron.toLowerCase())) return `${cron} is none of ${[...macros].join(", ")}`;
  if (cron.includes("~"))
    return "~ is another time on each start of cron; say a time, and jitter in the job if it is to vary";
  return null;
}

/** The first unescaped % ends the command; those after it are line ends of what it reads. */
function splitAtPercent(text: string): Pick<CrontabEntry, "command" | "stdin"> {
  const parts = text.split(/(?<!\\)%/).map((part) => part.replaceAll(String.raw`\%`, "%"));
  const [command = "", ...lines] = parts;
  return { command: command.trim(), stdin: lines.length === 0 ? null : `${lines.join("\n")}\n` };
}

function unquoted(value: string): string {
  return /^(["'])(.*)\1$/.exec(value)?.[2] ?? value;
}
