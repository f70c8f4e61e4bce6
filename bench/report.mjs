import { availableParallelism, cpus, totalmem } from "node:os";
import { parseArgs } from "node:util";

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

const common = {
  quick: { doc: "a small run, which only checks that the benchmark works" },
  json: { doc: "print the results as JSON" },
};

/**
 * Reads the options of a benchmark, in addition to --quick and --json. One with `value` takes a value: LIST is split at
 * commas, COUNT is a positive number; `choices` are its only words. --help prints all options and ends; a wrong one ends with exit code 64.
 */
export function readOptions(script, own) {
  const known = { ...own, ...common };
  const usage = [
    `npm run ${script} [-- options]`,
    "",
    ...Object.entries(known).map(([name, { value = "", doc, choices }]) => {
      const words = choices === undefined ? "" : `: ${choices.join(", ")}`;
      return `  ${`--${name} ${value}`.trim().padEnd(22)} ${doc}${words}`;
    }),
  ].join("\n");
  const refuse = (reason) => {
    console.error(`${reason}\n\n${usage}`);
    process.exit(64);
  };
  if (process.argv.slice(2).some((word) => word === "--help" || word === "-h")) {
    console.log(usage);
    process.exit(0);
  }
  const { values } = parsed(known, refuse);
  const read = Object.entries(values).map(([name, text]) => {
    const { value, choices } = known[name];
    if (value === "COUNT" && !(Number(text) > 0)) refuse(`--${name} must be a number above 0, not ${text}.`);
    const wrong = choices === undefined ? [] : text.split(",").filter((word) => !choices.includes(word));
    if (wrong.length > 0) refuse(`--${name}: there is no ${wrong.join(", ")}; there are ${choices.join(", ")}.`);
    if (value === undefined) return [name, true];
    return [name, value === "COUNT" ? Number(text) : value === "LIST" ? text.split(",") : text];
  });
  return { quick: false, json: false, ...Object.fromEntries(read) };
}

function parsed(known, refuse) {
  const options = Object.entries(known).map(([name, { value }]) => [
    name,
    { type: value === undefined ? "boolean" : "string" },
  ]);
  try {
    return parseArgs({ options: Object.fromEntries(options) });
  } catch (error) {
    return refuse(error.message);
  }
}
