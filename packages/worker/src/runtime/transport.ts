import type { RunCreate, TaskDefaults } from "@carillon/client";
import {
  type Assignment,
  type Completion,
  type DurationMs,
  type NoteAnswer,
  present,
  type RunNote,
  type StopOrder,
} from "@carillon/core";
import type { CreatedRun, Task } from "./task.js";

export interface Registration {
  readonly name: string;
  /** The namespaces whose runs it takes, `*` alone for all; left out: its own. */
  readonly namespaces?: readonly string[];
  /** `*` alone stands for every queue. */
  readonly queues: readonly string[];
  readonly tasks: readonly string[];
  readonly slots: number;
  /** Labels of the worker; runs may require some of them. */
  readonly labels?: Readonly<Record<string, string>>;
  /** By task, the versions of it that the worker has. */
  readonly versions?: Readonly<Record<string, readonly string[]>>;
  /** By task, how many slots a run uses, where that is more than one. */
  readonly weights?: Readonly<Record<string, number>>;
  /** By task, the defaults of its runs. The worker declares nothing for a task that is missing here. */
  readonly defaults?: Readonly<Record<string, TaskDefaults>>;
  /** Its machine may be reclaimed at any time: it gets only runs that allow that. */
  readonly isSpot?: boolean;
  /** How many runs may be queued here beyond the slots; left out: as many as the worker completes in 50 ms. */
  readonly ahead?: number;
}

/** What the engine sends to a worker without a request. */
export interface TransportEvents {
  /** Runs for this worker, up to its slots and what it takes ahead. A claim that it holds already must be ignored. */
  readonly onAssign: (assignments: readonly Assignment[]) => void;
  /** Runs that this worker holds must stop. */
  readonly onStop: (orders: readonly StopOrder[]) => void;
  /** The server no longer knows the session: other workers may have its runs. */
  readonly onLost: () => void;
  /** The engine has not received anything from this worker for so long that it may soon give its runs to others: handlers should stop. */
  readonly onDisconnected: () => void;
  /** An operator asks the worker to stop; with a notice: its machine is reclaimed. Repeated until the worker stops. */
  readonly onDrain: (isNotice: boolean) => void;
  /** A request failed; the transport retries by itself. */
  readonly onFailure: (error: unknown) => void;
}

export interface StartedRun {
  readonly runId: string;
  readonly fence: number;
  readonly agoMs: DurationMs;
}

/** The run whose handler creates other runs: they get its namespace and its trace. */
export interface ParentRun {
  /** Left out: the worker's own. */
  readonly namespace?: string | undefined;
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
}

/** Creates runs, in their order; durable when it resolves. If one is refused, throws its error; the others are stored. */
export type CreateRuns = (parent: ParentRun, runs: readonly RunCreate[]) => Promise<readonly CreatedRun[]>;

/** The port of a worker to the engine. After onLost, `open` starts a new session. */
export interface Transport {
  /** For handlers; left out: this worker's handlers create no runs. */
  readonly createRuns?: CreateRuns;
  /** Registers the worker; runs may arrive from now on. */
  open(registration: Registration, events: TransportEvents): Promise<void>;
  /** Returns the ids of the runs whose result was accepted; the others belong to other workers by now. */
  complete(completions: readonly Completion[]): Promise<ReadonlySet<string>>;
  /** Asks for no more runs. Resolves when none can arrive any more. */
  pause(): Promise<void>;
  /** These runs have started, so long ago. Sent once for each run that takes some seconds: only the loss of a started run counts. */
  started(runs: readonly StartedRun[]): Promise<void>;
  giveBack(runs: readonly { runId: string; fence: number }[]): Promise<void>;
  /**
   * Stores and loads handler state (checkpoints, progress, log lines, results of steps): one answer per note, in their order. The
   * worker makes one such call at a time, of at most 200 notes and about 512 KiB, and repeats it with the same notes when it fails:
   * every note may arrive twice. Over HTTP this is one request beside the poll, which the server answers at once. A lost claim is an
   * answer (`lost`), a lost session is an error.
   */
  note(notes: readonly RunNote[]): Promise<readonly NoteAnswer[]>;
  close(): Promise<void>;
  /** Whether the error means that the server no longer knows the session. */
  isSessionLost(error: unknown): boolean;
}

/** A worker before its tasks are reduced to what the server must know of them. */
export interface RegisteringWorker extends Omit<Registration, "tasks" | "versions" | "weights" | "defaults"> {
  readonly tasks: readonly Task[];
}

/** Slots by task, for tasks whose runs use more than one, capped at the worker's slots. Null if there are none. */
export function taskWeights({
  tasks,
  slots,
}: Pick<RegisteringWorker, "tasks" | "slots">): ReadonlyMap<string, number> | null {
  const heavy = tasks.filter(({ weight = 1 }) => weight > 1);
  return heavy.length === 0 ? null : new Map(heavy.map(({ name, weight = 1 }) => [name, Math.min(weight, slots)]));
}

export function toRegistration(worker: RegisteringWorker): Registration {
  const { name, namespaces, queues, slots, ahead, labels, isSpot, tasks } = worker;
  const weights = taskWeights(worker);
  const versioned = tasks.filter(({ versions = [] }) => versions.length > 0);
  const versions = Object.fromEntries(versioned.map((task) => [task.name, task.versions ?? []]));
  const withDefaults = tasks.filter(({ defaults }) => defaults !== undefined);
  const defaults = Object.fromEntries(withDefaults.map((task) => [task.name, task.defaults ?? {}]));
  return {
    name,
    queues,
    slots,
    tasks: [...new Set(tasks.map((task) => task.name))],
    ...present({ namespaces, ahead, labels }),
    ...(versioned.length > 0 && { versions }),
    ...(weights !== null && { weights: Object.fromEntries(weights) }),
    ...(withDefaults.length > 0 && { defaults }),
    ...(isSpot === true && { isSpot }),
  };
}
