/** The work of a run began here. `token` is the answer that only this try gets. */
export interface StartEntry {
  readonly event: "start";
  readonly token: number;
  readonly run: string;
  readonly job: string;
  readonly fence: number;
  readonly at: number;
}

/** The work was answered (done, or failed on purpose), or whoever asked for it went away. */
export interface EndEntry {
  readonly event: "end";
  readonly token: number;
  readonly outcome: "done" | "failed" | "gone";
  readonly at: number;
}

export type JournalEntry = StartEntry | EndEntry;
