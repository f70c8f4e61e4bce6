import type { Instant } from "@carillon/core";
import type { Page, PageRequest } from "./api.js";
import type { ChangeContext } from "./job-changes.js";
import type { QueueLimits } from "./queues.js";

export interface NamespaceView {
  readonly name: string;
  /** Its share of the workers that serve several namespaces, in proportion to the weights of the others that have work. */
  readonly weight: number;
  /** At most so many of its runs at a time, and so many starts in any window; null: none. */
  readonly limits: QueueLimits | null;
  readonly version: number;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

/** What a change says; absent members stay. */
export interface NamespaceChange {
  readonly weight?: number;
  /** null takes the limit away. */
  readonly concurrency?: QueueLimits["concurrency"] | null;
  readonly rateLimit?: QueueLimits["rateLimit"] | null;
}

/** The tenants: every job, run, queue and worker belongs to one. */
export interface Namespaces {
  listNamespaces(page: PageRequest): Promise<Page<NamespaceView>>;
  getNamespace(name: string): Promise<NamespaceView | null>;
  /** Throws namespace_taken. */
  createNamespace(name: string, weight: number): Promise<NamespaceView>;
  /** Throws not_found, precondition_failed. Followed by every node within a second. */
  changeNamespace(name: string, change: NamespaceChange, context: ChangeContext): Promise<NamespaceView>;
}
