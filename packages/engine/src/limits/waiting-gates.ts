/** Pairs of a limit and a gate that are remembered. */
const mostPairs = 10_000;

/**
 * The gates that wait for each limit, so that they are tried when it is released. Only to be quick: what is forgotten here the sweep
 * finds. The oldest are, since nobody says when a gate waits no longer.
 */
export class WaitingGates {
  readonly #most: number;
  readonly #byLimit = new Map<number, Set<string>>();
  #size = 0;

  constructor(most = mostPairs) {
    this.#most = most;
  }

  get size(): number {
    return this.#size;
  }

  add(limitId: number, gate: string): void {
    let gates = this.#byLimit.get(limitId);
    if (gates === undefined) this.#byLimit.set(limitId, (gates = new Set()));
    if (gates.has(gate)) return;
    gates.add(gate);
    this.#size++;
    for (const oldest of this.#byLimit.keys()) {
      if (this.#size <= this.#most) break;
      this.take(oldest, this.#size - this.#most);
    }
  }

  /** The first so many that wait for the limit; they are forgotten. */
  take(limitId: number, most: number): string[] {
    const gates = this.#byLimit.get(limitId) ?? new Set<string>();
    const taken: string[] = [];
    for (const gate of gates) {
      if (taken.length >= most) break;
      taken.push(gate);
      gates.delete(gate);
    }
    this.#size -= taken.length;
    if (gates.size === 0) this.#byLimit.delete(limitId);
    return taken;
  }
}
