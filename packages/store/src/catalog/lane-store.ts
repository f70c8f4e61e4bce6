import { namedColumns } from "../db/parameters.js";
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
 * plain: its runs may be assigned ahead, to wait at a worker. solo: only to a slot that is free at once, with the start recorded:
 * its runs start at most once, or lost a worker before. lost: they lost several; as solo, and one at a time to each worker.
 * strict, strict_once: of a strict queue, which has a claim of its own; runs of the latter start at most once.
 * gated: its runs have limits and wait for them; no worker is served from it. admitted: as solo; its runs hold the limits that they need.
 */
export type LaneKind = "plain" | "solo" | "lost" | "strict" | "strict_once" | "gated" | "admitted";

/** Of a queue whose runs go one at a time. */
export const isStrict = (kind: LaneKind): boolean => kind === "strict" || kind === "strict_once";

/** Names a lane; a plain one without `kind`. */
export interface LaneName {
  readonly queue: string;
  readonly task: string;
  readonly kind?: LaneKind;
  readonly requires?: string;
}

export interface LaneStore {
  /** The lanes of these names, in their order; creates the missing ones. */
  ensure(names: readonly LaneName[]): Promise<number[]>;
  /** null: not known to this node yet. */
  known(name: LaneName): number | null;
  /** null: a lane that another node created and that this node has not read yet. */
  get(id: number): Lane | null;
  /** Every lane, also of other nodes. New ones are at the end. */
  list(): Promise<readonly Lane[]>;
}

/**
 * Most lanes are created by a transaction of one statement, so one with a lower id becomes visible at most a moment after one with
 * a higher id. Reading so many ids back finds it.
 */
const rereadIds = 100;
/** A lane that was created in a caller's transaction may become visible much later: every so many scans read all lanes. */
const scansUntilFull = 60;

/** Lanes never change and are never removed, so the cache cannot be wrong, only short. */
export function laneStore(db: Queryable, statements: Statements): LaneStore {
  const byName = new Map<string, Lane>();
  const byId = new Map<number, Lane>();
  let highest = 0;
  let scans = 0;
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
    const names = namedColumns(missing, {
      queues: (name) => name.queue,
      tasks: (name) => name.task,
      kinds: (name) => name.kind ?? "plain",
      requires: (name) => name.requires ?? "",
    });
    // A lane that another transaction inserted after our snapshot is in neither half of the answer: a second round finds it.
    for (let round = 0; round < 2 && missing.some((name) => !byName.has(keyOf(name))); round++) {
      const { rows } = await db.query<Lane>(ensure, ensure.values(names));
      remember(rows);
    }
  }

  return {
    async ensure(names) {
      const missing = names.filter((name) => !byName.has(keyOf(name)));
      if (missing.length > 0) await make(missing);
      return names.map((name) => {
        const lane = byName.get(keyOf(name));
        if (lane === undefined) throw new Error(`the lane of ${name.queue}/${name.task} was neither found nor created`);
        return lane.id;
      });
    },
    known: (name) => byName.get(keyOf(name))?.id ?? null,
    get: (id) => byId.get(id) ?? null,
    async list() {
      const from = ++scans % scansUntilFull === 0 ? 0 : highest - rereadIds;
      const { rows } = await db.query<Lane>(newer, newer.values({ highestId: Math.max(0, from) }));
      remember(rows);
      for (const { id } of rows) highest = Math.max(highest, id);
      return [...byId.values()];
    },
  };
}
