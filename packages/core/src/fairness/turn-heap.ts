/** Where a namespace stands: its served time and, for equal ones, when it last had its turn. */
export interface Turn {
  readonly namespace: string;
  served: number;
  turn: number;
}

/** Binary heap: the namespace that was served least is first. */
export class TurnHeap {
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

  /** Restores the order after the first one was served. */
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
