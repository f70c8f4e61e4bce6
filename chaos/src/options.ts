import { parseArgs } from "node:util";
import { mutantNames } from "./mutants/mutants.js";

export interface Options {
  readonly seed: number;
  readonly loadMs: number;
  readonly nodes: number;
  readonly mutant: string | null;
  /** Keeps journal, logs and database for a look. */
  readonly keep: boolean;
}

export const usage = `node chaos/chaos.mjs [--minutes M | --short] [--seed S] [--nodes N] [--mutant NAME] [--keep]

  --minutes M   minutes of load with faults, 5 by default; healing and judging come on top
  --short       about two minutes in all
  --seed S      repeats a plan; drawn and printed when left out
  --nodes N     2 by default
  --mutant N    changes one statement of the product, which must then fail: ${mutantNames.join(", ")}
  --keep        leaves the folder with journal, logs and database

Exit codes: 0 nothing wrong, 1 violations, 2 wrong usage, 3 void (no fault bit), 4 the harness itself failed.`;

const shortMinutes = 1.2;

/** Throws an Error whose message says what is wrong. */
export function readOptions(args: readonly string[], drawSeed: () => number): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: "string", default: "5" },
      short: { type: "boolean", default: false },
      seed: { type: "string" },
      nodes: { type: "string", default: "2" },
      mutant: { type: "string" },
      keep: { type: "boolean", default: false },
    },
  });
  const minutes = values.short ? shortMinutes : numberIn("--minutes", values.minutes, [0.5, 24 * 60]);
  const mutant = values.mutant ?? null;
  if (mutant !== null && !mutantNames.includes(mutant))
    throw new Error(`--mutant must be one of ${mutantNames.join(", ")}`);
  return {
    seed: values.seed === undefined ? drawSeed() : numberIn("--seed", values.seed, [0, 2 ** 32 - 1]),
    loadMs: Math.round(minutes * 60) * 1_000,
    nodes: numberIn("--nodes", values.nodes, [2, 5]),
    mutant,
    keep: values.keep,
  };
}

function numberIn(name: string, text: string, [least, most]: readonly [number, number]): number {
  const value = Number(text);
  if (text.trim() === "" || !(value >= least && value <= most))
    throw new Error(`${name} must be from ${least} to ${most}, not ${text}`);
  return value;
}
