import { formatDuration, type Instant, type RunError } from "@carillon/core";

/** For people: whole seconds from a second on. */
export function inWords(ms: number): string {
  const size = Math.max(0, ms);
  return formatDuration(size < 1_000 ? Math.round(size) : Math.round(size / 1_000) * 1_000);
}

export function at(instant: Instant): string {
  return new Date(instant).toISOString();
}

export function byWhom(actor: string | null): string {
  return actor === null ? "" : ` by ${actor}`;
}

export function because(reason: string | null): string {
  return reason === null || reason === "" ? "" : `: ${reason}`;
}

const longestError = 300;

/** Of an error what fits into a sentence: its kind and the first line of its message. */
export function inShort({ type, message }: Pick<RunError, "type" | "message">): string {
  const line = message.split("\n", 1)[0] ?? "";
  return `${type}: ${line.length > longestError ? `${line.slice(0, longestError - 1)}…` : line}`;
}
