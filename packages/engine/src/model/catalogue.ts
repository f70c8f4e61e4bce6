import type { DurationMs, Instant } from "@carillon/core";
import type { Page, PageRequest } from "./api.js";

/**
 * What a task's workers say about runs of it: fields of a request for a run, in the words of the wire. Whoever reads requests knows what
 * they mean; here they are kept as they came.
 */
export type TaskDefaults = Readonly<Record<string, unknown>>;

/** A task as it is known: from workers that serve it, jobs that name it, runs that had it. */
export interface TaskView {
  readonly name: string;
  /** That are given runs of it. */
  readonly workers: number;
  readonly slots: number;
  /** From which they take it; * alone stands for every queue. */
  readonly queues: readonly string[];
  readonly hasJobs: boolean;
  /** How long a run takes, where a queue is ordered by it. */
  readonly expectedMs: DurationMs | null;
  /** Taken where a request for a run or a job leaves them out; null: no worker said anything. */
  readonly defaults: TaskDefaults | null;
}

export interface NodeView {
  readonly id: string;
  readonly name: string;
  readonly address: string | null;
  readonly version: string;
  readonly startedAt: Instant;
  readonly heartbeatAt: Instant;
  /** By the database's clock. */
  readonly silentMs: DurationMs;
  /** Its clock minus the database's. */
  readonly skewMs: DurationMs;
  readonly takesShards: boolean;
  readonly shards: number;
}

export interface ShardView {
  readonly id: number;
  /** The node; null: nobody has it just now. */
  readonly owner: string | null;
  /** Grows whenever it changes hands. */
  readonly epoch: number;
}

export interface ClusterView {
  readonly nodes: readonly NodeView[];
  readonly shards: readonly ShardView[];
}

/** What there is, for people who look around. */
export interface Catalogue {
  /** By name. */
  listTasks(namespace: string, page: PageRequest): Promise<Page<TaskView>>;
  getTask(namespace: string, name: string): Promise<TaskView | null>;
  /** As this node knows them; null: no worker said anything. */
  defaultsOf(namespace: string, task: string): TaskDefaults | null;
  cluster(): Promise<ClusterView>;
}
