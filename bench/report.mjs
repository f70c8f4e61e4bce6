import { availableParallelism, cpus, totalmem } from "node:os";

export function describeMachine() {
  return {
    cpu: cpus()[0]?.model ?? "unknown",
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    zoneData: process.versions.tz,
  };
}

/** Prints the results as text. */
export function printTable({ machine, results }) {
  console.log(`${machine.cpu}, ${machine.cores} cores, Node ${machine.node}, zone data ${machine.zoneData}`);
  for (const one of results) {
    const peers = Object.entries(one.peers).map(([name, value]) => `${name} ${round(value)}`);
    const verdict = one.met === null ? "" : one.met ? "met" : "MISSED";
    const target = one.target === null ? "" : `target ${one.target.toLocaleString("en")}`;
    const floor = one.floor === null ? "" : `floor ${round(one.floor)}`;
    const ratio = one.ratio === null ? "" : `ratio ${round(one.ratio)}`;
    const ours = one.unit === "ratio" ? "" : `ours ${round(one.ours)} ${one.unit}`;
    const cells = [ours, ...peers, floor, ratio, target, verdict].filter((cell) => cell !== "");
    console.log(`${one.case.padEnd(20)} ${one.metric}\n${" ".repeat(21)}${cells.join(" | ")}`);
  }
}

function round(value) {
  return Number(value.toPrecision(3)).toLocaleString("en");
}

/** A result without peers; its ratio compares it with the floor. `atMost` or `atLeast` sets a target; without them it is informative. */
export function result({ name, metric, unit, ours, floor = null, atMost, atLeast }) {
  const target = atMost ?? atLeast ?? null;
  const met = target === null ? null : atMost === undefined ? ours >= target : ours <= target;
  return { case: name, metric, unit, ours, peers: {}, floor, ratio: floor === null ? null : ours / floor, target, met };
}

export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)];
}

/** Prints progress to stderr; stdout is reserved for the report. */
export function say(line) {
  console.error(`${new Date().toISOString().slice(11, 19)} ${line}`);
}
