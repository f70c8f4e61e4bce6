import type { TaskDefaults } from "@carillon/client";
import type { Assignment, Completion, DurationMs, NoteAnswer, RunNote, StopOrder } from "@carillon/core";

export interface Registration {
  readonly name: string;
  /** Those whose runs it takes, `*` alone for every one; left out: its own. */
  readonly namespaces?: readonly string[];
  /** `*` alone stands for every queue. */
  readonly queues: readonly string[];
  readonly tasks: readonly string[];
  readonly slots: number;
  /** What the worker says of itself; runs may require some of it. */
  readonly labels?: Readonly<Record<string, string>>;
  /** By task, the versions of it that the worker has. */
  readonly versions?: Readonly<Record<string, readonly string[]>>;
  /** By task, how many slots a run takes, where that is more than one. */
  readonly weights?: Readonly<Record<string, number>>;
  /** By task, what its runs are like where nobody says otherwise. Of a task that is not named nothing is said. */
  readonly defaults?: Readonly<Record<string, TaskDefaults>>;
  /** The worker may go at any time: it gets only runs that allow it. */
  readonly isSpot?: boolean;
  /** Runs that may wait here beyond the slots; left out: as many as are done in a twentieth of a second. */
  readonly ahead?: number;
}

/** What the engine has to say to a worker without being asked. */
export interface TransportEvents {
  /** Runs for this worker, up to its slots and what it takes ahead. One that it holds already is to be left alone. */
  readonly onAssign: (assignments: readonly Assignment[]) => void;
  /** Runs that this worker holds are to stop. */
  readonly onStop: (orders: readonly StopOrder[]) => void;
  /** The server does not know the session any more: whatever runs here is somebody else's. */
  readonly onLost: () => void;
  /** The engine has not heard of this worker for so long that it may soon give its runs to others: they had better stop. */
  readonly onUnheard: () => void;
  /** An operator wants this worker to end; with a notice: its machine goes. Told again and again until it does. */
  readonly onDrain: (isNotice: boolean) => void;
  /** The way to the engine is interrupted; the transport tries on by itself. */
  readonly onFailure: (error: unknown) => void;
}

export interface StartedRun {
  readonly runId: string;
  readonly fence: number;
  readonly agoMs: DurationMs;
}

/** How a worker talks to the engine. After onLost, `open` begins anew under another session. */
export interface Transport {
  /** From now on runs come. */
  open(registration: Registration, events: TransportEvents): Promise<void>;
  /** Answers the run ids whose result was accepted; the others belong to somebody else by now. */
  complete(completions: readonly Completion[]): Promise<ReadonlySet<string>>;
  /** No more runs, please. Resolves when none is on its way. */
  pause(): Promise<void>;
  /** These runs have begun, so long ago. Told once of each that runs for some seconds: only the loss of such a run counts. */
  started(runs: readonly StartedRun[]): Promise<void>;
  giveBack(runs: readonly { runId: string; fence: number }[]): Promise<void>;
  /**
   * What handlers leave behind while they run (checkpoints, progress, lines of log, results of steps), or ask for. One answer to
   * each, in their order. The worker has one such call under way at a time, of at most 200 notes and about half a megabyte, and
   * calls again with the same notes when it fails: every note may arrive twice. Over HTTP this is one request that the server
   * answers at once, beside the poll; a claim that is over is an answer (`lost`), a session that is over an error.
   */
  note(notes: readonly RunNote[]): Promise<readonly NoteAnswer[]>;
  close(): Promise<void>;
  /** The server does not know the session any more. */
  isSessionLost(error: unknown): boolean;
}
