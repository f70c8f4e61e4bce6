import type { Job } from "@carillon/contract";
import { type Invocation, textOption } from "./command.js";
import type { Io } from "./io.js";

/** Where a command was sent: the one that takes it back has to go there too. */
const addressFlags = ["profile", "url", "namespace"] as const;

/** Says what was done and the command that takes it back. */
export function printUndo(io: Io, invocation: Invocation, done: string, undo: string): void {
  io.info(`carillon: ${done}; undo with: ${undoLine(invocation, undo)}`);
}

/** The whole line to type. A pipe of several commands is written with ` | ` between them. */
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

/** Says that nothing takes it back, and what can be done instead. */
export function printNoUndo(io: Io, done: string, instead?: string): void {
  io.info(`carillon: ${done}; there is no undo${instead === undefined ? "" : `: ${instead}`}`);
}

/** Such a job fires no more, whatever is asked of it. */
export const hasEnded = ({ state }: Pick<Job, "state">): boolean => state === "cancelled" || state === "completed";

/** A cancelled job still answers by its id, and so can be made again as it was; only one with a key can be applied. */
export function undoOfCancel({ id, key }: Pick<Job, "id" | "key">): string {
  return key === null ? `job export ${id} -o jsonl | api /v1/jobs -d -` : `job export ${id} | job apply -f -`;
}

interface Pausing {
  readonly reason: string | null;
  readonly until: string | null;
  readonly missed?: string;
}

/** The flags with which something is paused as it was. An end that is over by now would be refused. */
export function pauseFlags(pause: Pausing | null | undefined, now: number): string {
  if (pause === null || pause === undefined) return "";
  const { reason, until, missed = "none" } = pause;
  return [
    ...(reason === null ? [] : [` --reason ${shellWord(reason)}`]),
    ...(until === null || Date.parse(until) <= now ? [] : [` --until ${until}`]),
    ...(missed === "none" ? [] : [` --missed ${missed}`]),
  ].join("");
}

/** A text as one word of a command line, for any POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
