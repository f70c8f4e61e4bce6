/** Draws from a seed alone (mulberry32): the same seed gives the same plan. */
export class SeededRandom {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** At least 0, below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number, both ends included. */
  between(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  pick<Choice>(choices: readonly Choice[]): Choice {
    const choice = choices[this.between(0, choices.length - 1)];
    if (choice === undefined) throw new Error("There is nothing to choose from.");
    return choice;
  }

  /** All choices in a drawn order. */
  shuffle<Choice>(choices: readonly Choice[]): Choice[] {
    const left = [...choices];
    return choices.flatMap(() => left.splice(this.between(0, left.length - 1), 1));
  }
}
