import { columns } from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statements.js";

export interface Lane {
  readonly id: number;
  readonly queue: string;
  readonly task: string;
  readonly kind: LaneKind;
  /** The labels that a worker must have, as one text; empty for none. */
  readonly requires: string;
}

/**
 * plain: its runs may be handed out ahead, to wait at a worker. solo: only to a slot that is free at once, with the start on record:
 * they are begun at most once, or lost a worker before. lost: they lost several; as solo, and one at a time to each worker.
 * strict, strict_once: of a strict queue, which has a claim of its own; the latter may be begun at most once.
 * gated: its runs have limits and wait for them, nobody is served from it. admitted: as solo; its runs hold the limits that they need.
 */
export type LaneKind = "plain" | "solo" | "lost" | "strict" | "strict_once" | "gated" | "admitted";

/** Of a queue whose runs go one at a time. */
export const isStrict = (kind: LaneKind): boolean => kind === "strict" || kind === "strict_once";

/** What lanes are asked for: plain ones, unless it says otherwise. */
export interface LaneName {
  readonly queue: string;
  readonly task: string;
  readonly kind?: LaneKind;
  readonly requires?: string;
}

export interface LaneStore {
  /** The lanes of these names, made where they do not exist. Answers in the order of the names. */
  ensure(names: readonly LaneName[]): Promise<number[]>;
  /** null: not known to this node yet. */
  known(name: LaneName): number | null;
  /** null: a lane that another node made and that was not looked up yet. */
  get(id: number): Lane | null;
  /** Every lane, those that other nodes made included. New ones come at the end. */
  list(): Promise<readonly Lane[]>;
}

/**
 * Most lanes are made by a transaction of one statement, so one with a lower id becomes visible at most a moment after one with
 * a higher id. Looking this far back finds it.
 */
const lookBack = 100;
/** One that was made inside somebody's own transaction may come much later: now and then all are looked at. */
const looksUntilAll = 60;

/** Lanes never change and are never removed, so the cache cannot be wrong, only short. */
export function laneStore(db: Queryable, statements: Statements): LaneStore {
  const byName = new Map<string, Lane>();
  const byId = new Map<number, Lane>();
  let highest = 0;
  let looks = 0;
  const keyOf = ({ queue, task, kind = "plain", requires = "" }: LaneName): string =>
    `${queue}\n${task}\n${kind}\n${requires}`;
  const ensure = statements.get("lane.ensure");
  const newer = statements.get("lane.newer");

  function remember(rows: readonly Lane[]): void {
    for (const lane of rows) {
      byName.set(keyOf(lane), lane);
      byId.set(lane.id, lane);
    }
  }

  async function make(missing: readonly LaneName[]): Promise<void> {
    const parameters = columns(missing, [
      (name) => name.queue,
      (name) => name.task,
      (name) => name.kind ?? "plain",
      (name) => name.requires ?? "",
    ]);
    // A lane that another transaction inserted after our snapshot is in neither half of the answer: ask once more.
    for (let round = 0; round < 2 && missing.some((name) => !byName.has(keyOf(name))); round++) {
      const { rows } = await db.query<Lane>(ensure, parameters);
      remember(rows);
    }
  }

  return {
    async ensure(names) {
      const missing = names.filter((name) => !byName.has(keyOf(name)));
      if (missing.length > 0) await make(missing);
      return names.map((name) => {
        const lane = byName.get(keyOf(name));
        if (lane === undefined) throw new Error(`the lane of ${name.queue}/${name.task} was neither found nor made`);
        return lane.id;
      });
    },
    known: (name) => byName.get(keyOf(name))?.id ?? null,
    get: (id) => byId.get(id) ?? null,
    async list() {
      const from = ++looks % looksUntilAll === 0 ? 0 : highest - lookBack;
      const { rows } = await db.query<Lane>(newer, [Math.max(0, from)]);
      remember(rows);
      for (const { id } of rows) highest = Math.max(highest, id);
      return [...byId.values()];
    },
  };
}
