/** How many of the next runs each namespace may have, and what its counter was moved by for it. */
export interface Deal {
  readonly places: number;
  readonly quotas: ReadonlyMap<number, number>;
  /** Parts of the whole, by namespace. */
  readonly parts: ReadonlyMap<number, number>;
}

/** A counter that is further off than this was moved by something that is no longer true. */
const furthest = 1_000;

/**
 * Weighted deficit round robin between the namespaces that have runs for the same workers. Each has a counter of the runs that it
 * is owed: places are dealt out by weight and by what is owed, and what was not claimed is owed to nobody. A namespace without
 * runs is owed nothing; one that comes back, or comes for the first time, begins where the others stand.
 */
export class NamespaceTurns {
  readonly #weightOf: (namespaceId: number) => number;
  readonly #owed = new Map<number, number>();

  constructor(weightOf: (namespaceId: number) => number) {
    this.#weightOf = weightOf;
  }

  /** Only one namespace has runs: nobody is owed anything. */
  rest(): void {
    this.#owed.clear();
  }

  /** For namespaces that have runs. Whoever asks must tell what came of it. */
  deal(waiting: ReadonlySet<number>, places: number): Deal {
    for (const id of this.#owed.keys()) if (!waiting.has(id)) this.#owed.delete(id);
    const parts = this.#parts(waiting);
    let sum = 0;
    for (const owed of this.#owed.values()) sum += owed;
    const due = [...parts].map(([id, part]) => ({ id, due: (this.#owed.get(id) ?? 0) + (places - sum) * part }));
    const quotas = wholeShares(due, places);
    for (const [id, part] of parts) this.#move(id, places * part - (quotas.get(id) ?? 0));
    return { places, quotas, parts };
  }

  /** So many were claimed of each. */
  settle({ places, quotas, parts }: Deal, claimed: ReadonlyMap<number, number>): void {
    let count = 0;
    for (const id of parts.keys()) count += claimed.get(id) ?? 0;
    for (const [id, part] of parts) {
      if (!this.#owed.has(id)) continue;
      this.#move(id, (count - places) * part + (quotas.get(id) ?? 0) - (claimed.get(id) ?? 0));
    }
  }

  #parts(waiting: ReadonlySet<number>): Map<number, number> {
    let sum = 0;
    for (const id of waiting) sum += this.#weightOf(id);
    return new Map([...waiting].map((id) => [id, this.#weightOf(id) / sum]));
  }

  #move(id: number, by: number): void {
    const owed = (this.#owed.get(id) ?? 0) + by;
    this.#owed.set(id, Math.max(-furthest, Math.min(furthest, owed)));
  }
}

interface Due {
  readonly id: number;
  readonly due: number;
}

/** Whole numbers that add up to the places: what is due, rounded down, and one more to whoever is due most beyond that. */
function wholeShares(due: readonly Due[], places: number): Map<number, number> {
  const quotas = new Map(due.map(({ id, due: share }) => [id, Math.max(0, Math.floor(share))]));
  let left = due.length === 0 ? 0 : places;
  for (const quota of quotas.values()) left -= quota;
  const beyond = ({ id, due: share }: Due): number => share - (quotas.get(id) ?? 0);
  while (left > 0) {
    for (const { id } of [...due].sort((a, b) => beyond(b) - beyond(a)).slice(0, left)) {
      quotas.set(id, (quotas.get(id) ?? 0) + 1);
      left--;
    }
  }
  while (left < 0) {
    const had = due.filter(({ id }) => (quotas.get(id) ?? 0) > 0).sort((a, b) => beyond(a) - beyond(b));
    for (const { id } of had.slice(0, -left)) {
      quotas.set(id, (quotas.get(id) ?? 0) - 1);
      left++;
    }
  }
  return quotas;
}
