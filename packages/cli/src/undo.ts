import type { Job } from "@carillon/contract";
import { type Invocation, textOption } from "./command.js";
import type { Io } from "./io.js";

/** The undo must reach the same server and namespace. */
const addressFlags = ["profile", "url", "namespace"] as const;

/** Prints what was done and the command that undoes it. */
export function printUndo(io: Io, invocation: Invocation, done: string, undo: string): void {
  io.info(`carillon: ${done}; undo with: ${undoLine(invocation, undo)}`);
}

/** The whole line to type. ` | ` separates the commands of a pipe. */
export function undoLine(invocation: Invocation, undo: string): string {
  const flags = addressFlags.flatMap((name) => {
    const value = textOption(invocation, name);
    return value === undefined ? [] : [` --${name} ${shellWord(value)}`];
  });
  return undo
    .split(" | ")
    .map((part) => `carillon ${part}${flags.join("")}`)
    .join(" | ");
}

/** Prints that nothing undoes it, and what the user can do instead. */
export function printNoUndo(io: Io, done: string, instead?: string): void {
  io.info(`carillon: ${done}; there is no undo${instead === undefined ? "" : `: ${instead}`}`);
}

/** A job that has ended never fires again. */
export const hasEnded = ({ state }: Pick<Job, "state">): boolean => state === "cancelled" || state === "completed";

/** The server still returns a cancelled job by its id, so that it can be created again; only a job with a key can be applied. */
export function undoOfCancel({ id, key }: Pick<Job, "id" | "key">): string {
  return key === null ? `job export ${id} -o jsonl | api /v1/jobs -d -` : `job export ${id} | job apply -f -`;
}

interface PausedState {
  readonly reason: string | null;
  readonly until: string | null;
  readonly missed?: string;
}

/** The flags that pause it as it was. The server would refuse an end in the past. */
export function pauseFlags(pause: PausedState | null | undefined, now: number): string {
  if (pause === null || pause === undefined) return "";
  const { reason, until, missed = "none" } = pause;
  return [
    ...(reason === null ? [] : [` --reason ${shellWord(reason)}`]),
    ...(until === null || Date.parse(until) <= now ? [] : [` --until ${until}`]),
    ...(missed === "none" ? [] : [` --missed ${missed}`]),
  ].join("");
}

/** A text as one argument of a command line, for any POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
