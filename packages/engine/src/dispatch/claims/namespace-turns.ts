/** How many of the next runs each namespace may have, and what its counter was changed by for that. */
export interface NamespaceShares {
  readonly slots: number;
  readonly quotas: ReadonlyMap<number, number>;
  /** Fractions of the whole, by namespace. */
  readonly parts: ReadonlyMap<number, number>;
}

/** A counter that is further off than this was changed by something that is no longer true. */
const maxCredit = 1_000;

/**
 * Weighted deficit round robin between the namespaces that have runs for the same workers. Each has a credit, in runs: slots are shared by
 * weight and credit, and slots that no run was claimed for are credited to no namespace. A namespace without runs has no credit; one that
 * returns, or is new, begins where the others stand.
 */
export class NamespaceTurns {
  readonly #weightOf: (namespaceId: number) => number;
  readonly #credits = new Map<number, number>();

  constructor(weightOf: (namespaceId: number) => number) {
    this.#weightOf = weightOf;
  }

  /** Only one namespace has runs: there are no credits. */
  reset(): void {
    this.#credits.clear();
  }

  /** For the namespaces that have runs. The caller must settle the shares. */
  share(waiting: ReadonlySet<number>, slots: number): NamespaceShares {
    for (const id of this.#credits.keys()) if (!waiting.has(id)) this.#credits.delete(id);
    const parts = this.#parts(waiting);
    let sum = 0;
    for (const credit of this.#credits.values()) sum += credit;
    const due = [...parts].map(([id, part]) => ({ id, due: (this.#credits.get(id) ?? 0) + (slots - sum) * part }));
    const quotas = wholeShares(due, slots);
    for (const [id, part] of parts) this.#change(id, slots * part - (quotas.get(id) ?? 0));
    return { slots, quotas, parts };
  }

  /** So many runs were claimed of each namespace. */
  settle({ slots, quotas, parts }: NamespaceShares, claimed: ReadonlyMap<number, number>): void {
    let count = 0;
    for (const id of parts.keys()) count += claimed.get(id) ?? 0;
    for (const [id, part] of parts) {
      if (!this.#credits.has(id)) continue;
      this.#change(id, (count - slots) * part + (quotas.get(id) ?? 0) - (claimed.get(id) ?? 0));
    }
  }

  #parts(waiting: ReadonlySet<number>): Map<number, number> {
    let sum = 0;
    for (const id of waiting) sum += this.#weightOf(id);
    return new Map([...waiting].map((id) => [id, this.#weightOf(id) / sum]));
  }

  #change(id: number, by: number): void {
    const credit = (this.#credits.get(id) ?? 0) + by;
    this.#credits.set(id, Math.max(-maxCredit, Math.min(maxCredit, credit)));
  }
}

interface Due {
  readonly id: number;
  readonly due: number;
}

/** Whole numbers that add up to the slots: each share rounded down, and one more for those with the largest remainder. */
function wholeShares(due: readonly Due[], slots: number): Map<number, number> {
  const quotas = new Map(due.map(({ id, due: share }) => [id, Math.max(0, Math.floor(share))]));
  let left = due.length === 0 ? 0 : slots;
  for (const quota of quotas.values()) left -= quota;
  const remainder = ({ id, due: share }: Due): number => share - (quotas.get(id) ?? 0);
  while (left > 0) {
    for (const { id } of [...due].sort((a, b) => remainder(b) - remainder(a)).slice(0, left)) {
      quotas.set(id, (quotas.get(id) ?? 0) + 1);
      left--;
    }
  }
  while (left < 0) {
    const reducible = due.filter(({ id }) => (quotas.get(id) ?? 0) > 0).sort((a, b) => remainder(a) - remainder(b));
    for (const { id } of reducible.slice(0, -left)) {
      quotas.set(id, (quotas.get(id) ?? 0) - 1);
      left++;
    }
  }
  return quotas;
}
