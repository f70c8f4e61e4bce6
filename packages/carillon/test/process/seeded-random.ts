/** Random choices that a printed seed repeats. */
export interface SeededRandom {
  readonly seed: number;
  /** A whole number from 0 to most, both included. */
  upTo(most: number): number;
}

/** CARILLON_TEST_SEED repeats a run. */
export function seededRandom(): SeededRandom {
  const seed = Number(process.env["CARILLON_TEST_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
  let state = seed;
  return {
    seed,
    upTo(most) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return Math.floor((state / 2 ** 32) * (most + 1));
    },
  };
}
