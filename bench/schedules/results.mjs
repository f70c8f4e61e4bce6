// Results in the form of PROOF.md. No peer is measured here: a ratio is one to the floor, for rates.

/** `atMost` or `atLeast` make a target; without either the figure is told for its own sake. */
export function result({ name, metric, unit, ours, floor = null, atMost, atLeast }) {
  const target = atMost ?? atLeast ?? null;
  const met = target === null ? null : atMost === undefined ? ours >= target : ours <= target;
  return { case: name, metric, unit, ours, peers: {}, floor, ratio: floor === null ? null : ours / floor, target, met };
}

export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)];
}

/** Progress, on stderr: stdout is for the report. */
export function say(line) {
  console.error(`${new Date().toISOString().slice(11, 19)} ${line}`);
}
