import { type Turn, TurnHeap } from "./turn-heap.js";

/** Served time may be set back to zero once it has grown to this; long before sums lose their precision. */
const renormaliseAt = 2 ** 20;

/**
 * Shares places among namespaces by weight: weighted deficit round robin, one run at a time. Each run that a namespace is
 * given costs it 1 / weight of served time; the one with the least is next. Hence, while two have work, their runs divided
 * by their weights never differ by more than one run of each; none starves; and no place stays empty while anybody has
 * work. Who comes with new work starts at the present, so it is served soon, and saves up nothing while it has none.
 */
export class WeightedRoundRobin {
  readonly #weights = new Map<string, number>();
  /** Of those that owe: namespaces ahead of the present. Any other is at the present. */
  readonly #served = new Map<string, Turn>();
  /** The least served time of any namespace that had work when a place was last given. */
  #present = 0;
  #turns = 0;

  /** 1 unless set. Holds from the next place on; what a namespace owes is kept as a number of runs. */
  setWeight(namespace: string, weight: number): void {
    if (!(weight >= 0.000_001 && weight <= 1_000_000)) {
      throw new RangeError(`a weight lies from 0.000001 to 1000000, not at ${weight}`);
    }
    const turn = this.#served.get(namespace);
    if (turn !== undefined) {
      turn.served = this.#present + ((turn.served - this.#present) * this.#weightOf(namespace)) / weight;
    }
    if (weight === 1) this.#weights.delete(namespace);
    else this.#weights.set(namespace, weight);
  }

  /** How many of `places` each namespace gets, of those that have work; never more than it has. */
  take(available: ReadonlyMap<string, number>, places: number): Map<string, number> {
    const heap = new TurnHeap();
    for (const [namespace, count] of available) if (count >= 1) heap.push(this.#turnOf(namespace));
    const shares = new Map<string, number>();
    for (let given = 0; given < places; given++) {
      const turn = heap.first();
      if (turn === undefined) break;
      this.#present = Math.max(this.#present, turn.served);
      const share = (shares.get(turn.namespace) ?? 0) + 1;
      shares.set(turn.namespace, share);
      this.#serve(turn);
      if (share < Math.floor(available.get(turn.namespace) ?? 0)) heap.sinkFirst();
      else heap.removeFirst();
    }
    this.#forgetSettled();
    return shares;
  }

  /** Takes back places that were given but found no run, so that the namespace does not pay for them. */
  giveBack(namespace: string, places: number): void {
    const turn = this.#served.get(namespace);
    if (turn !== undefined) turn.served -= places / this.#weightOf(namespace);
  }

  #weightOf(namespace: string): number {
    return this.#weights.get(namespace) ?? 1;
  }

  #turnOf(namespace: string): Turn {
    let turn = this.#served.get(namespace);
    if (turn === undefined) {
      turn = { namespace, served: this.#present, turn: this.#turns++ };
      this.#served.set(namespace, turn);
    }
    turn.served = Math.max(turn.served, this.#present);
    return turn;
  }

  #serve(turn: Turn): void {
    turn.served += 1 / this.#weightOf(turn.namespace);
    turn.turn = this.#turns++;
  }

  /** Memory is bounded by the namespaces that were served lately. */
  #forgetSettled(): void {
    const from = this.#present >= renormaliseAt ? this.#present : 0;
    this.#present -= from;
    for (const [namespace, turn] of this.#served) {
      turn.served -= from;
      if (turn.served <= this.#present) this.#served.delete(namespace);
    }
  }
}
