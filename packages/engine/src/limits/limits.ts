import type { DurationMs, Instant, LimitKind, LimitScope, OrderFailure } from "@carillon/core";
import type { LimitFilter, LimitChange } from "@carillon/store";
import type { Page, PageRequest } from "../requests.js";

/** A limit as it is now. */
export interface LimitView {
  readonly id: number;
  readonly scope: LimitScope;
  readonly kind: LimitKind;
  /** The key; of a job its id, of a queue or a task its name. */
  readonly key: string;
  readonly limit: number;
  readonly perMs: DurationMs | null;
  readonly burst: number | null;
  readonly onFailure: OrderFailure | null;
  /** An operator has set it. */
  readonly isFixed: boolean;
  /** Runs that hold it; of a rate those that started within the window, or may start at any time. */
  readonly used: number;
  /** Of a rate without room: when time alone makes some. */
  readonly nextRoomAt: Instant | null;
  /** An ordering key: the failed run that everything behind it waits for. */
  readonly stoppedBy: string | null;
}

export interface WaitingView {
  readonly waiting: number;
  /** When the one that waits longest became due. */
  readonly oldestAt: Instant | null;
  /** False: there are more than were counted. */
  readonly isExact: boolean;
}

export type ListedLimit = LimitView & WaitingView;

/** What a run waits for. */
export interface RunLimitsView {
  /** Runs that stand before it behind the same limits. */
  readonly position: number;
  readonly limits: readonly LimitView[];
}

/** Limits of a namespace. One is there while runs use it, or once an operator has set it. */
export interface Limits {
  listLimits(namespace: string, filter: LimitFilter, page: PageRequest): Promise<Page<ListedLimit>>;
  getLimit(namespace: string, id: number): Promise<ListedLimit | null>;
  /** Throws limit_invalid; null when there is no such limit. */
  changeLimit(namespace: string, id: number, change: LimitChange): Promise<ListedLimit | null>;
  /** Lets the runs behind a failed one of an ordering key go on; null when there is no such limit. */
  resumeLimit(namespace: string, id: number): Promise<ListedLimit | null>;
  /** What a run waits for; null: not for a limit. */
  limitsOf(namespace: string, runId: string): Promise<RunLimitsView | null>;
}
