import { canMoveClocks } from "./cluster/node-clock.js";
import { violationKinds } from "./judge/verdict.js";
import type { Mutant } from "./mutants/mutant.js";
import { mutants } from "./mutants/mutants.js";
import type { Options } from "./options.js";
import { type Result, exitCodes, outcomeOf, violationsOf } from "./report.js";
import { type Print, runInFolder } from "./run-chaos.js";

/** The result of one mutant with one seed. BROKEN: the harness failed, so the result is unknown. */
export interface Trial {
  readonly state: "caught" | "guarded" | "SURVIVED" | "BROKEN" | "not run";
  readonly detail: string;
}

/**
 * Runs every mutant with every seed and prints a table. Fails if a mutant was neither caught nor stopped by its other
 * guard.
 */
export async function runMutants(options: Options, seeds: readonly number[], print: Print): Promise<number> {
  const lines: string[] = [];
  let isFailed = false;
  for (const mutant of mutants.filter(({ name }) => options.triedMutants.includes(name))) {
    for (const seed of seeds) {
      const trial = await tryMutant({ ...options, seed, mutant: mutant.name, faults: mutant.faults ?? null }, mutant);
      isFailed ||= trial.state === "SURVIVED" || trial.state === "BROKEN";
      const line = `${mutant.name.padEnd(30)}${String(seed).padEnd(12)}${trial.state.padEnd(11)}${trial.detail}`;
      print(line);
      lines.push(line);
    }
  }
  print(["", `${"mutant".padEnd(30)}${"seed".padEnd(12)}outcome    detail`, ...lines].join("\n"));
  return isFailed ? exitCodes.violations : exitCodes.ok;
}

async function tryMutant(options: Options, mutant: Mutant): Promise<Trial> {
  if (mutant.faults?.includes("clock") === true && !canMoveClocks())
    return { state: "not run", detail: "libfaketime is not installed" };
  try {
    return trialOf(mutant, await runInFolder(options, () => undefined));
  } catch (error) {
    return { state: "BROKEN", detail: error instanceof Error ? error.message : String(error) };
  }
}

export function trialOf({ guardedBy, shownBy = violationKinds }: Mutant, result: Result): Trial {
  if (outcomeOf(result) === "starved") return { state: "BROKEN", detail: "the machine was starved" };
  const found = findings(result);
  if (guardedBy === undefined) {
    if (found.length === 0) return { state: "SURVIVED", detail: "the judge found nothing wrong" };
    const isShown = shownBy.some((kind) => violationsOf(result, kind) > 0);
    return { state: isShown ? "caught" : "SURVIVED", detail: `${isShown ? "" : "only "}${found.join(", ")}` };
  }
  const refused = result.faultEffects.refusedBy[guardedBy] ?? 0;
  if (found.length > 0) return { state: "SURVIVED", detail: `its other guard did not hold: ${found.join(", ")}` };
  return refused > 0
    ? { state: "guarded", detail: `${guardedBy} refused ${refused}` }
    : { state: "SURVIVED", detail: `${guardedBy} refused nothing, so its other guard was not exercised` };
}

function findings(result: Result): string[] {
  if (outcomeOf(result) !== "violations") return [];
  const counts = violationKinds.map((kind) => [kind, violationsOf(result, kind)] as const);
  return [
    ...counts.filter(([, count]) => count > 0).map(([kind, count]) => `${kind} ${count}`),
    ...result.audits.map((audit) => `audit of ${audit.split(":")[0] ?? audit}`),
    ...(result.recoveredMs === null ? ["no recovery within the bound"] : []),
  ];
}
