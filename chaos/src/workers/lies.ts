import { SeededRandom } from "../plan/random.js";

/**
 * twice: its result is sent again. older: before its work a result of an older claim is sent. stranger: results for runs that others
 * have, from a session that has none. hang, begin: it says that it lives and never ends the run, which it says to have begun or not; the
 * server does. none: as it should be.
 */
export type Lie = "twice" | "older" | "stranger" | "hang" | "begin" | "none";

const drawn: readonly Lie[] = [
  ...(["none", "none", "none", "none", "none", "twice", "twice", "twice", "older", "older", "older"] as const),
  ...(["stranger", "hang", "begin"] as const),
];

/** Which lie comes with each run, as a seed says; no run hangs after the given number of ms. */
export class Lies {
  readonly #random: SeededRandom;
  readonly #hangsUntil: number;

  constructor(seed: number, hangsUntil: number) {
    this.#random = new SeededRandom(seed);
    this.#hangsUntil = hangsUntil;
  }

  next(now: number): Lie {
    const lie = this.#random.pick(drawn);
    return (lie === "hang" || lie === "begin") && now > this.#hangsUntil ? "none" : lie;
  }
}
