import { CarillonError, type Instant, type KeyedLimit } from "@carillon/core";
import type { Limits, LimitView, ListedLimit, WaitingView } from "./limits.js";
import { type LimitChange, type LimitReads, type LimitRow, ownLimitsOf, type WaitingGroup } from "@carillon/store";
import { rateStateOf } from "./choose-runs.js";
import { limitsIn } from "./limit-text.js";
import { nextRoomAt, startsSince } from "./rate-window.js";

export interface LimitApiParts {
  readonly limits: LimitReads;
  /** The id of a namespace; throws not_found. */
  readonly namespaceId: (name: string) => Promise<number>;
  /** The database's clock. */
  readonly now: () => Instant;
  /** A limit changed: more may start. */
  readonly onChanged: () => void;
}

/** Runs that are counted. */
const mostCounted = 10_000;
const nobody: WaitingView = { waiting: 0, oldestAt: null, isExact: true };

/** Limits as callers see them. */
export function limitApi({ limits, namespaceId, now, onChanged }: LimitApiParts): Limits {
  async function listed(within: number, rows: readonly LimitRow[]): Promise<ListedLimit[]> {
    if (rows.length === 0) return [];
    const waiting = waitingBy(await limits.waiting(within, mostCounted + 1));
    return rows.map((row) => ({ ...viewOf(row, now()), ...(waiting.get(nameOf(row.limit)) ?? nobody) }));
  }

  async function find(within: number, id: number): Promise<LimitRow | null> {
    const [row] = await limits.list(within, { after: id - 1, limit: 1 });
    return row?.id === id ? row : null;
  }

  async function changed(namespace: string, id: number, change: LimitChange & { resumes?: boolean }) {
    const within = await namespaceId(namespace);
    const before = await find(within, id);
    if (before === null) return null;
    refuse(before, change);
    const [row] = await limits.fix(within, id, change);
    onChanged();
    return row === undefined ? null : ((await listed(within, [row]))[0] ?? null);
  }

  return {
    async listLimits(namespace, filter, { pageSize, after }) {
      const within = await namespaceId(namespace);
      const rows = await limits.list(within, { ...filter, after: Number(after ?? 0), limit: pageSize + 1 });
      const shown = rows.slice(0, pageSize);
      const next = rows.length > pageSize ? String(shown.at(-1)?.id) : null;
      return { rows: await listed(within, shown), next };
    },
    async getLimit(namespace, id) {
      const within = await namespaceId(namespace);
      const row = await find(within, id);
      return row === null ? null : ((await listed(within, [row]))[0] ?? null);
    },
    changeLimit: (namespace, id, change) => changed(namespace, id, { isFixed: true, ...change }),
    resumeLimit: (namespace, id) => changed(namespace, id, { resumes: true }),
    async limitsOf(namespace, runId) {
      const within = await namespaceId(namespace);
      const found = await limits.ofRun(within, runId, mostCounted);
      if (found === null) return null;
      const { position, queue, queueLimits, namespaceLimits } = found;
      const named = [
        ...limitsIn(found.limits),
        ...(queueLimits === null ? [] : ownLimitsOf(queueLimits, "queue", queue)),
        ...(namespaceLimits === null ? [] : ownLimitsOf(namespaceLimits, "namespace", "")),
      ];
      const rows = await limits.named(within, named);
      return { position, limits: rows.map((row) => viewOf(row, now())) };
    },
  };
}

/** Queues and namespaces say what their limits are; an ordering key has none to set. */
function refuse(
  { limit }: LimitRow,
  { limit: most, perMs, burst, resumes }: LimitChange & { resumes?: boolean },
): void {
  const isChange = most !== undefined || perMs !== undefined || burst !== undefined;
  const wrong = (detail: string): CarillonError => new CarillonError("limit_invalid", detail);
  if (resumes === true && limit.kind !== "order") throw wrong("only an ordering key can be resumed after a failure");
  if (!isChange) return;
  if (limit.scope === "queue" || limit.scope === "namespace")
    throw wrong(`this limit belongs to the ${limit.scope} ${limit.name}: change it there`);
  if (limit.kind === "order") throw wrong("an ordering key lets one run at a time go on, and takes no other number");
  if (limit.kind !== "rate" && (perMs !== undefined || burst !== undefined))
    throw wrong("a limit on concurrency has neither per nor burst");
}

function viewOf(row: LimitRow, now: Instant): LimitView {
  const { id, limit, isFixed, stoppedBy } = row;
  const { scope, kind, name: key, perMs, burst, onFailure } = limit;
  const seen = { id, scope, kind, key, limit: limit.limit, perMs, burst, onFailure, isFixed, stoppedBy };
  if (kind !== "rate") return { ...seen, used: row.used, nextRoomAt: null };
  const state = rateStateOf(row);
  const at = nextRoomAt(state, now);
  const begun = startsSince(row.starts, now - state.perMs).reduce((sum, one, index) => sum + (index % 2) * one, 0);
  return { ...seen, used: row.used + begun, nextRoomAt: at !== null && at > now ? at : null };
}

/** Who waits, by the limits that they need, full or not. */
function waitingBy(groups: readonly WaitingGroup[]): Map<string, WaitingView> {
  const found = new Map<string, WaitingView>();
  const isExact = groups.reduce((sum, group) => sum + group.count, 0) <= mostCounted;
  for (const { limits, queue, count, oldestAt } of groups) {
    const own = [
      `queue\nconcurrency\n${queue}`,
      `queue\nrate\n${queue}`,
      "namespace\nconcurrency\n",
      "namespace\nrate\n",
    ];
    for (const name of [...limitsIn(limits).map(nameOf), ...own]) {
      const before = found.get(name) ?? nobody;
      const oldest = Math.min(oldestAt, before.oldestAt ?? oldestAt);
      found.set(name, { waiting: before.waiting + count, oldestAt: oldest, isExact });
    }
  }
  return found;
}

function nameOf({ scope, kind, name }: KeyedLimit): string {
  return `${scope}\n${kind}\n${name}`;
}
