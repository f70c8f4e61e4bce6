import type { EndEntry, JournalEntry, StartEntry } from "../journal/entry.js";
import { groupBy } from "./group-by.js";

/** The journal by run and by token. */
export interface JournalView {
  /** In the order in which the work began. */
  startsOf(run: string): readonly StartEntry[];
  endOf(token: number): EndEntry | undefined;
  readonly starts: readonly StartEntry[];
}

export function journalView(entries: readonly JournalEntry[]): JournalView {
  const starts = entries.filter((entry) => entry.event === "start");
  const byRun = groupBy(starts, (start) => start.run);
  const ends = new Map(entries.filter((entry) => entry.event === "end").map((end) => [end.token, end]));
  return { starts, startsOf: (run) => byRun.get(run) ?? [], endOf: (token) => ends.get(token) };
}
