import { parseArgs } from "node:util";
import { kindsBesideUpgrades } from "./mixed/plan-upgrades.js";
import { mutantNamed, mutantNames } from "./mutants/mutants.js";
import { type FaultKind, faultKinds } from "./plan/fault.js";

export interface Options {
  readonly seed: number;
  readonly loadMs: number;
  readonly nodes: number;
  readonly mutant: string | null;
  /** The only fault kinds to plan; null for all of them. */
  readonly faults: readonly FaultKind[] | null;
  /** The seeds to run each mutant with; null for one ordinary run. */
  readonly mutantSeeds: readonly number[] | null;
  /** The names of the mutants to run. */
  readonly triedMutants: readonly string[];
  /** A file that gets the outcome as JSON. */
  readonly json: string | null;
  /** The nodes begin in the version before. `ref`: that one; null: the newest tag, or the commit that landed last. */
  readonly mixed: { readonly ref: string | null } | null;
  /** Keeps the journal, the logs and the database for inspection. */
  readonly keep: boolean;
}

export const usage = `node chaos/chaos.mjs [--minutes M | --short] [--seed S] [--nodes N] [--faults A,B] [--mutant NAME] [--keep] [--json FILE]
node chaos/chaos.mjs --mixed [REF] [--minutes M | --short] [--seed S] [--nodes N] [--keep] [--json FILE]
node chaos/chaos.mjs --mutants [--only A,B] [--seeds 1,2] [--minutes M] [--nodes N]

  --minutes M   minutes of load with faults, 5 by default, without healing and judging
  --short       about two minutes in all
  --seed S      repeats a plan; without it a seed is drawn and printed
  --nodes N     2 by default, 3 with --mixed
  --mixed REF   the nodes begin in the version REF, which is built in a temporary git worktree, and are upgraded to this checkout one after
                the other under load; the first one is killed in the middle of its migrations. REF is the newest tag by default, or the
                commit in chaos/landed-commit
  --faults A,B  only these kinds: ${faultKinds.join(", ")}; or none
  --mutant N    runs a changed product, which must fail or be stopped by its other guard: ${mutantNames.join(", ")}
  --mutants     runs every mutant, or those that --only names, with each seed, in the short form
  --json FILE   also writes the outcome to a file as JSON
  --keep        keeps the folder with journal, logs and database

Exit codes: 0 no violations, 1 violations (with --mutants: a mutant survived), 2 wrong usage, 3 void (no fault had an effect),
4 the harness itself failed, 5 void (the machine was starved), 6 skipped (--mixed in a checkout without the version before).`;

const shortMinutes = 1.2;

/** Throws an Error whose message names the wrong option. */
export function readOptions(args: readonly string[], drawSeed: () => number): Options {
  const { mixed, rest } = takeMixed(args);
  const { values } = parseArgs({
    args: rest,
    options: {
      minutes: { type: "string" },
      short: { type: "boolean", default: false },
      seed: { type: "string" },
      nodes: { type: "string", default: mixed === null ? "2" : "3" },
      faults: { type: "string" },
      mutant: { type: "string" },
      mutants: { type: "boolean", default: false },
      only: { type: "string" },
      seeds: { type: "string", default: "1,2" },
      json: { type: "string" },
      keep: { type: "boolean", default: false },
    },
  });
  const isShort = values.short || (values.mutants && values.minutes === undefined);
  const minutes = isShort ? shortMinutes : numberIn("--minutes", values.minutes ?? "5", [0.5, 24 * 60]);
  const mutant = values.mutant === undefined ? null : mutantNamed(values.mutant);
  return {
    seed: values.seed === undefined ? drawSeed() : seedIn("--seed", values.seed),
    loadMs: Math.round(minutes * 60) * 1_000,
    nodes: numberIn("--nodes", values.nodes, [2, 5]),
    mutant: mutant?.name ?? null,
    faults: faultsOf(values.faults, mixed === null ? (mutant?.faults ?? null) : kindsBesideUpgrades),
    mixed,
    mutantSeeds: values.mutants ? values.seeds.split(",").map((seed) => seedIn("--seeds", seed)) : null,
    triedMutants: values.only?.split(",").map((name) => mutantNamed(name).name) ?? mutantNames,
    json: values.json ?? null,
    keep: values.keep,
  };
}

/** --mixed may have a value, which parseArgs does not know. */
function takeMixed(args: readonly string[]): { mixed: Options["mixed"]; rest: string[] } {
  const at = args.indexOf("--mixed");
  if (at === -1) return { mixed: null, rest: [...args] };
  const next = args[at + 1];
  const ref = next === undefined || next.startsWith("--") ? null : next;
  return { mixed: { ref }, rest: args.toSpliced(at, ref === null ? 1 : 2) };
}

const faultsOf = (text: string | undefined, usual: Options["faults"]): Options["faults"] =>
  text === undefined ? usual : kindsIn(text);

/** The arguments that repeat a run's plan. */
export function replayArgs({ seed, loadMs, nodes, mutant, faults, mixed }: Options): string {
  const upgrades = mixed === null ? "" : ` --mixed${mixed.ref === null ? "" : ` ${mixed.ref}`}`;
  const only =
    faults === null || faults === kindsBesideUpgrades
      ? ""
      : ` --faults ${faults.length === 0 ? "none" : faults.join(",")}`;
  const changed = mutant === null ? "" : ` --mutant ${mutant}`;
  return `--minutes ${loadMs / 60_000} --seed ${seed} --nodes ${nodes}${only}${changed}${upgrades}`;
}

const seedIn = (name: string, text: string): number => numberIn(name, text, [0, 2 ** 32 - 1]);

function kindsIn(text: string): FaultKind[] {
  if (text === "none") return [];
  return text.split(",").map((name) => {
    const kind = faultKinds.find((one) => one === name);
    if (kind === undefined)
      throw new Error(`There is no fault ${name} for --faults; the kinds are ${faultKinds.join(", ")}.`);
    return kind;
  });
}

function numberIn(name: string, text: string, [min, max]: readonly [number, number]): number {
  const value = Number(text);
  if (text.trim() === "" || !(value >= min && value <= max))
    throw new Error(`${name} must be from ${min} to ${max}, not ${text}.`);
  return value;
}
