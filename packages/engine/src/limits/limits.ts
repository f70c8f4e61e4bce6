import {
  CarillonError,
  type DurationMs,
  type Instant,
  type KeyedLimit,
  type LimitKind,
  type LimitScope,
  type OrderFailure,
} from "@carillon/core";
import { type LimitChange, type LimitFilter, type LimitRow, ownLimitsOf, type WaitingGroup } from "@carillon/store";
import { afterCommit } from "../after-commit.js";
import type { EngineContext } from "../context.js";
import { type Page, type PageRequest, toPage } from "../requests.js";
import { rateStateOf } from "./choose-runs.js";
import { limitsIn } from "./limit-text.js";
import { nextRoomAt, startsSince } from "./rate-window.js";

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
  /** An ordering key: the failed run for which the runs behind it wait. */
  readonly stoppedBy: string | null;
}

export interface WaitingView {
  readonly waiting: number;
  /** When the run that has waited longest became due. */
  readonly oldestAt: Instant | null;
  /** False: there are more than were counted. */
  readonly isExact: boolean;
}

export type ListedLimit = LimitView & WaitingView;

/** The limits that a run waits for. */
export interface RunLimitsView {
  /** Runs before it behind the same limits. */
  readonly position: number;
  readonly limits: readonly LimitView[];
}

type RequestedChange = LimitChange & { readonly resumes?: boolean };

/** Runs that are counted. */
const maxCounted = 10_000;
const noneWaiting: WaitingView = { waiting: 0, oldestAt: null, isExact: true };

/** Limits of a namespace. A limit exists while runs use it, or once an operator has set it. */
export class Limits {
  readonly #context: Pick<EngineContext, "store" | "now" | "inNamespace" | "wakeups">;

  constructor(context: Pick<EngineContext, "store" | "now" | "inNamespace" | "wakeups">) {
    this.#context = context;
  }

  list(namespace: string, filter: LimitFilter, { pageSize, after }: PageRequest): Promise<Page<ListedLimit>> {
    const { inNamespace, store } = this.#context;
    return inNamespace(namespace, async (namespaceId) => {
      const found = await store.limits.list(namespaceId, { ...filter, after: Number(after ?? 0), limit: pageSize + 1 });
      const { rows, next } = toPage(found, pageSize, (row) => String(row.id));
      return { rows: await this.#listed(namespaceId, rows), next };
    });
  }

  get(namespace: string, id: number): Promise<ListedLimit | null> {
    return this.#context.inNamespace(namespace, async (namespaceId) => {
      const row = await this.#find(namespaceId, id);
      return row === null ? null : ((await this.#listed(namespaceId, [row]))[0] ?? null);
    });
  }

  /** Throws limit_invalid; null when there is no such limit. An empty change leaves it as it is. */
  change(namespace: string, id: number, change: LimitChange): Promise<ListedLimit | null> {
    if (Object.keys(change).length === 0) return this.get(namespace, id);
    return this.#change(namespace, id, { isFixed: true, ...change });
  }

  /** Lets the runs behind a failed run of an ordering key start; null when there is no such limit. */
  resume(namespace: string, id: number): Promise<ListedLimit | null> {
    return this.#change(namespace, id, { resumes: true });
  }

  /** The limits that a run waits for; null: it does not wait for a limit. */
  ofRun(namespace: string, runId: string): Promise<RunLimitsView | null> {
    const { inNamespace, store, now } = this.#context;
    return inNamespace(namespace, async (namespaceId) => {
      const found = await store.limits.ofRun(namespaceId, runId, maxCounted);
      if (found === null) return null;
      const { position, queue, queueLimits, namespaceLimits } = found;
      const named = [
        ...limitsIn(found.limits),
        ...(queueLimits === null ? [] : ownLimitsOf(queueLimits, "queue", queue)),
        ...(namespaceLimits === null ? [] : ownLimitsOf(namespaceLimits, "namespace", "")),
      ];
      const rows = await store.limits.named(namespaceId, named);
      return { position, limits: rows.map((row) => toView(row, now())) };
    });
  }

  #change(namespace: string, id: number, change: RequestedChange): Promise<ListedLimit | null> {
    const { inNamespace, store, wakeups } = this.#context;
    return inNamespace(namespace, async (namespaceId) => {
      const before = await this.#find(namespaceId, id);
      if (before === null) return null;
      checkChange(before, change);
      const [row] = await store.limits.fix(namespaceId, id, change);
      wakeups.publish("limits.changed", null);
      return row === undefined ? null : ((await afterCommit(() => this.#listed(namespaceId, [row])))[0] ?? null);
    });
  }

  async #find(namespaceId: number, id: number): Promise<LimitRow | null> {
    const [row] = await this.#context.store.limits.list(namespaceId, { after: id - 1, limit: 1 });
    return row?.id === id ? row : null;
  }

  async #listed(namespaceId: number, rows: readonly LimitRow[]): Promise<ListedLimit[]> {
    const { store, now } = this.#context;
    if (rows.length === 0) return [];
    const waiting = waitingByLimit(await store.limits.waiting(namespaceId, maxCounted + 1));
    return rows.map((row) => ({ ...toView(row, now()), ...(waiting.get(nameOf(row.limit)) ?? noneWaiting) }));
  }
}

/** Limits of queues and namespaces are defined there; an ordering key has no number to set. */
function checkChange({ limit }: LimitRow, { limit: max, perMs, burst, resumes }: RequestedChange): void {
  const isChange = max !== undefined || perMs !== undefined || burst !== undefined;
  const invalid = (detail: string): CarillonError => new CarillonError("limit_invalid", detail);
  if (resumes === true && limit.kind !== "order") throw invalid("Only an ordering key can be resumed after a failure.");
  if (!isChange) return;
  if (limit.scope === "queue" || limit.scope === "namespace")
    throw invalid(`This limit belongs to the ${limit.scope} ${limit.name}: change it there.`);
  if (limit.kind === "order") throw invalid("An ordering key admits one run at a time, and takes no other number.");
  if (limit.kind !== "rate" && (perMs !== undefined || burst !== undefined))
    throw invalid("A limit on concurrency has neither per nor burst.");
}

function toView(row: LimitRow, now: Instant): LimitView {
  const { id, limit, isFixed, stoppedBy } = row;
  const { scope, kind, name: key, perMs, burst, onFailure } = limit;
  const view = { id, scope, kind, key, limit: limit.limit, perMs, burst, onFailure, isFixed, stoppedBy };
  if (kind !== "rate") return { ...view, used: row.used, nextRoomAt: null };
  const state = rateStateOf(row);
  const at = nextRoomAt(state, now);
  const started = startsSince(row.starts, now - state.perMs).reduce((sum, one, index) => sum + (index % 2) * one, 0);
  return { ...view, used: row.used + started, nextRoomAt: at !== null && at > now ? at : null };
}

/** The waiting runs of each limit that they need, whether it has room or not. */
function waitingByLimit(groups: readonly WaitingGroup[]): Map<string, WaitingView> {
  const found = new Map<string, WaitingView>();
  const isExact = groups.reduce((sum, group) => sum + group.count, 0) <= maxCounted;
  for (const { limits, queue, count, oldestAt } of groups) {
    const own = [
      `queue\nconcurrency\n${queue}`,
      `queue\nrate\n${queue}`,
      "namespace\nconcurrency\n",
      "namespace\nrate\n",
    ];
    for (const name of [...limitsIn(limits).map(nameOf), ...own]) {
      const before = found.get(name) ?? noneWaiting;
      const oldest = Math.min(oldestAt, before.oldestAt ?? oldestAt);
      found.set(name, { waiting: before.waiting + count, oldestAt: oldest, isExact });
    }
  }
  return found;
}

function nameOf({ scope, kind, name }: KeyedLimit): string {
  return `${scope}\n${kind}\n${name}`;
}
