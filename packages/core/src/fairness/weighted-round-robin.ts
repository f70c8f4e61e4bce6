/** All served times are reduced when the least of them reaches this, long before sums lose precision. */
const renormaliseAt = 2 ** 20;

/**
 * Shares slots among namespaces by weight: weighted deficit round robin, one run at a time. Each run costs its namespace
 * 1 / weight of served time; the namespace with the least served time is next. So, while two namespaces have work, their run
 * counts divided by their weights never differ by more than one run of each; no namespace starves; and no slot stays empty
 * while any namespace has work. A namespace with new work starts at the present, so it is served soon and accumulates no credit
 * while it has none.
 */
export class WeightedRoundRobin {
  readonly #weights = new Map<string, number>();
  /** The namespaces that are ahead of the present. All others are at the present. */
  readonly #served = new Map<string, Turn>();
  /** The least served time of any namespace that had work when the last slot was assigned. */
  #present = 0;
  #turns = 0;

  /** The default is 1. Takes effect from the next slot on; a namespace that is ahead stays ahead by the same number of runs. */
  setWeight(namespace: string, weight: number): void {
    if (!(weight >= 0.000_001 && weight <= 1_000_000)) {
      throw new RangeError(`The weight must be from 0.000001 to 1000000, not ${weight}.`);
    }
    const turn = this.#served.get(namespace);
    if (turn !== undefined) {
      turn.served = this.#present + ((turn.served - this.#present) * this.#weightOf(namespace)) / weight;
    }
    if (weight === 1) this.#weights.delete(namespace);
    else this.#weights.set(namespace, weight);
  }

  /** Distributes `slots` among the namespaces with work; none gets more than it has runs. */
  take(available: ReadonlyMap<string, number>, slots: number): Map<string, number> {
    const heap = new TurnHeap();
    for (const [namespace, count] of available) if (count >= 1) heap.push(this.#turnOf(namespace));
    const shares = new Map<string, number>();
    for (let given = 0; given < slots; given++) {
      const turn = heap.first();
      if (turn === undefined) break;
      this.#present = Math.max(this.#present, turn.served);
      const share = (shares.get(turn.namespace) ?? 0) + 1;
      shares.set(turn.namespace, share);
      this.#serve(turn);
      if (share < Math.floor(available.get(turn.namespace) ?? 0)) heap.sinkFirst();
      else heap.removeFirst();
    }
    this.#forgetIdle();
    return shares;
  }

  /** Returns slots for which no run was found, so that the namespace does not pay for them. */
  giveBack(namespace: string, slots: number): void {
    const turn = this.#served.get(namespace);
    if (turn !== undefined) turn.served -= slots / this.#weightOf(namespace);
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

  /** Bounds the memory to the namespaces that were served recently. */
  #forgetIdle(): void {
    const from = this.#present >= renormaliseAt ? this.#present : 0;
    this.#present -= from;
    for (const [namespace, turn] of this.#served) {
      turn.served -= from;
      if (turn.served <= this.#present) this.#served.delete(namespace);
    }
  }
}

/** The position of a namespace: its served time and, to break ties, when it last had a turn. */
interface Turn {
  readonly namespace: string;
  served: number;
  turn: number;
}

/** A binary heap; the namespace with the least served time is first. */
class TurnHeap {
  readonly #turns: Turn[] = [];

  first(): Turn | undefined {
    return this.#turns[0];
  }

  push(turn: Turn): void {
    let at = this.#turns.push(turn) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#swapIfBefore(at, parent)) return;
      at = parent;
    }
  }

  removeFirst(): void {
    const last = this.#turns.pop();
    if (last === undefined || this.#turns.length === 0) return;
    this.#turns[0] = last;
    this.sinkFirst();
  }

  /** Restores the order after the first namespace was served. */
  sinkFirst(): void {
    let at = 0;
    for (;;) {
      const left = at * 2 + 1;
      const child = this.#isBefore(left + 1, left) ? left + 1 : left;
      if (!this.#swapIfBefore(child, at)) return;
      at = child;
    }
  }

  #isBefore(at: number, other: number): boolean {
    const a = this.#turns[at];
    const b = this.#turns[other];
    if (a === undefined || b === undefined) return false;
    return a.served < b.served || (a.served === b.served && a.turn < b.turn);
  }

  #swapIfBefore(at: number, other: number): boolean {
    if (!this.#isBefore(at, other)) return false;
    const moved = this.#turns[at];
    const displaced = this.#turns[other];
    if (moved === undefined || displaced === undefined) return false;
    this.#turns[other] = moved;
    this.#turns[at] = displaced;
    return true;
  }
}
