// Distinct cron expressions as people write them, drawn from a seeded generator: the same list on every machine.

/** A small generator of uniform numbers in [0, 1), determined by its seed. */
export function seededRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const WEEKDAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
const MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];

/** Shapes and their weights, which follow real schedules: daily and weekly times first. */
const SHAPES = [
  [
    14,
    (r) =>
      `*/${r.of([2, 3, 5, 10, 12, 15, 20, 30])} ${r.of(["*", `${r.int(0, 9)}-${r.int(10, 23)}`])} * * ${r.of(["*", "1-5", "MON-FRI", "6,0"])}`,
  ],
  [8, (r) => `${r.int(0, 59)} * * * *`],
  [8, (r) => `${r.int(0, 59)} */${r.of([2, 3, 4, 6, 8, 12])} * * *`],
  [24, (r) => `${r.int(0, 59)} ${r.int(0, 23)} * * *`],
  [18, (r) => `${r.int(0, 59)} ${r.int(0, 23)} * * ${r.of(["1-5", "MON-FRI", "0", "6", "1,3,5", r.of(WEEKDAYS)])}`],
  [10, (r) => `${r.int(0, 59)} ${r.int(0, 23)} ${r.of([1, 2, 5, 10, 15, 20, 28, "1,15", "1-7"])} * *`],
  [5, (r) => `${r.list(0, 59, 3)} ${r.list(0, 23, 3)} * * *`],
  [4, (r) => `${r.int(0, 59)} ${r.int(0, 23)} ${r.int(1, 28)} ${r.of(MONTHS)} *`],
  [3, (r) => `${r.int(0, 59)} ${r.int(0, 23)} L * *`],
  [2, (r) => `${r.int(0, 59)} ${r.int(0, 23)} * * ${r.of(WEEKDAYS)}#${r.int(1, 4)}`],
  [2, (r) => `${r.int(0, 59)} ${r.int(0, 23)} ${r.int(1, 28)} * ${r.of(WEEKDAYS)}`],
  [2, (r) => `*/${r.of([5, 10, 15, 20, 30])} * * * * *`],
];

/** The first `count` distinct expressions of a seed. */
export function makeExpressions(count, seed) {
  const random = seededRandom(seed);
  const int = (low, high) => low + Math.floor(random() * (high - low + 1));
  const of = (choices) => choices[int(0, choices.length - 1)];
  const list = (low, high, size) =>
    [...new Set(Array.from({ length: size }, () => int(low, high)))].sort((a, b) => a - b).join(",");
  const bag = SHAPES.flatMap(([weight, make]) => Array.from({ length: weight }, () => make));
  const found = new Set();
  while (found.size < count) found.add(of(bag)({ int, of, list }));
  return [...found];
}
