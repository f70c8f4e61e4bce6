// Combines the figures of all systems into results. A ratio above 1 means that Carillon is better than the best peer.
import { median } from "../report.mjs";

/** Splits figures by system into ours and those of the peers. */
export function compare(figures, pick = (figure) => figure) {
  const peers = {};
  const postgres = [];
  let ours;
  for (const [system, figure] of figures) {
    const value = pick(figure);
    if (system.isOurs) ours = value;
    else {
      peers[system.name] = value;
      if (system.on === "postgres") postgres.push(value);
    }
  }
  return { ours, peers, postgres };
}

/** More is better. `atLeastTimes` sets the target as a multiple of the rate of a peer, or of "best postgres". */
export function rateResult(name, metric, { ours, peers, postgres = [] }, { floor = null, atLeast, atLeastTimes } = {}) {
  const best = Math.max(...Object.values(peers));
  const target = atLeast ?? multipleOf(atLeastTimes, peers, postgres);
  const ratio = Object.keys(peers).length > 0 ? ours / best : floor === null ? null : ours / floor;
  return {
    case: name,
    metric,
    unit: "/s",
    ours,
    peers,
    floor,
    ratio,
    target,
    met: target === null ? null : ours >= target,
  };
}

/** Less is better. `limit` is a number of milliseconds, or the name of the peer whose figure is the target. */
export function timeResult(name, metric, { ours, peers }, limit = null, floor = null) {
  const atMost = typeof limit === "string" ? (peers[limit] ?? null) : limit;
  const best = Math.min(...Object.values(peers));
  const ratio = Object.keys(peers).length > 0 ? best / ours : null;
  const met = atMost === null ? null : ours <= atMost;
  return { case: name, metric, unit: "ms", ours, peers, floor, ratio, target: atMost, met };
}

function multipleOf(target, peers, postgres) {
  if (target === undefined) return null;
  const base = target.of === "best postgres" ? Math.max(...postgres) : peers[target.of];
  return base === undefined || !Number.isFinite(base) ? null : Math.round(base * target.times);
}

/**
 * Measures in rounds and returns medians, because the speed of a machine can vary by half within seconds: a slow moment affects all systems of
 * a round. `each` measures all systems once; figures are numbers or objects of numbers.
 */
export async function inRounds(rounds, each) {
  const all = [];
  for (let round = 0; round < rounds; round++) all.push(await each());
  const [first] = all;
  // A system that failed in one round has no figure.
  const systems = [...first.keys()].filter((system) => all.every((figures) => figures.has(system)));
  return new Map(systems.map((system) => [system, medianFigure(all.map((figures) => figures.get(system)))]));
}

function medianFigure(figures) {
  const [first] = figures;
  if (typeof first === "number") return median(figures);
  return Object.fromEntries(Object.keys(first).map((name) => [name, median(figures.map((figure) => figure[name]))]));
}
