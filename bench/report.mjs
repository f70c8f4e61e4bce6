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

/** One line per result, for people. */
export function printTable({ machine, results }) {
  console.log(`${machine.cpu}, ${machine.cores} cores, Node ${machine.node}, zone data ${machine.zoneData}`);
  for (const result of results) {
    const peers = Object.entries(result.peers).map(([name, value]) => `${name} ${round(value)}`);
    const verdict = result.met === null ? "" : result.met ? "met" : "MISSED";
    const target = result.target === null ? "" : `target ${result.target.toLocaleString("en")}`;
    const floor = result.floor === null ? "" : `floor ${round(result.floor)}`;
    const ratio = result.ratio === null ? "" : `ratio ${round(result.ratio)}`;
    const ours = result.unit === "ratio" ? "" : `ours ${round(result.ours)} ${result.unit}`;
    const cells = [ours, ...peers, floor, ratio, target, verdict].filter((cell) => cell !== "");
    console.log(`${result.case.padEnd(20)} ${result.metric}\n${" ".repeat(21)}${cells.join(" | ")}`);
  }
}

function round(value) {
  return Number(value.toPrecision(3)).toLocaleString("en");
}
