// The machine's speed varies by half within seconds. So systems take turns, round by round, and each figure is the median of its rounds:
// what slows one of them down for a while slows down its neighbours as well.
import { median } from "../schedules/results.mjs";

/** `each` measures all systems once. Figures are numbers, or objects of numbers. */
export async function inRounds(rounds, each) {
  const all = [];
  for (let round = 0; round < rounds; round++) all.push(await each());
  const [first] = all;
  // Who failed in one round has no figure.
  const systems = [...first.keys()].filter((system) => all.every((figures) => figures.has(system)));
  return new Map(systems.map((system) => [system, medianOf(all.map((figures) => figures.get(system)))]));
}

function medianOf(figures) {
  const [first] = figures;
  if (typeof first === "number") return median(figures);
  return Object.fromEntries(Object.keys(first).map((name) => [name, median(figures.map((figure) => figure[name]))]));
}
