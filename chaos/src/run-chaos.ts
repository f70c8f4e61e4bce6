import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { Cluster } from "./cluster/cluster.js";
import { Driver } from "./cluster/driver.js";
import { inject } from "./cluster/inject.js";
import { Witness } from "./cluster/witness.js";
import { JournalServer } from "./journal/journal-server.js";
import type { DoneFault } from "./judge/evidence.js";
import { judge } from "./judge/judge.js";
import type { Options } from "./options.js";
import { type Fault, describeFault, planFaults } from "./plan/faults.js";
import { SeededRandom } from "./plan/random.js";
import { planWorkload } from "./plan/workload.js";
import type { Result } from "./report.js";
import { root } from "./root.js";
import { targetsOf } from "./targets/targets.js";

const limits = { leaseMs: 5_000, workerSilenceMs: 3_000 };
/** A lost lease or worker is noticed, and what it left is begun elsewhere. */
const aftermathMs = limits.leaseMs + limits.workerSilenceMs + 4_000;
/** From the heal until nothing is left to do. */
const recoveryBoundMs = aftermathMs + 15_000;
const recurring = 30;

export interface Session {
  readonly options: Options;
  readonly folder: string;
  readonly say: (line: string) => void;
}

/** One run: start, load with faults, heal, drain, judge. */
export async function runChaos({ options, folder, say }: Session): Promise<Result> {
  const random = new SeededRandom(options.seed);
  const plan = planFaults(random, { nodes: options.nodes, loadMs: options.loadMs, limits });
  say(`seed ${options.seed}: ${options.nodes} nodes, ${plan.length} faults in ${options.loadMs / 1_000} s`);
  for (const fault of plan) say(`  ${describeFault(fault)}`);
  const journal = await JournalServer.start(join(folder, "journal.jsonl"));
  const preload = preloadOf(options.mutant);
  const cluster = await Cluster.start({ folder, nodes: options.nodes, ...limits, preload });
  try {
    const witness = new Witness(() => cluster.databaseUrl);
    await sleep(limits.leaseMs / 2);
    const epochs = await witness.epochs();
    const driver = new Driver(cluster, journal);
    const begin = Math.ceil(Date.now() / 1_000) * 1_000;
    const workload = planWorkload(random, { begin, loadMs: options.loadMs, recurring });
    const [faults] = await Promise.all([injectAll(cluster, plan, begin), driver.drive(workload, begin)]);
    await sleep(Math.max(0, begin + options.loadMs - Date.now()));
    const recoveredMs = await drain(witness);
    const verdict = judge({
      jobs: workload.map(({ job }) => job),
      targets: driver.acknowledgements.flatMap(targetsOf),
      journal: journal.entries,
      runs: await witness.runs(),
      ledger: await witness.ledger(),
      faults,
      aftermathMs,
    });
    const acknowledged = driver.acknowledgements.filter((one) => one.acknowledgedAt !== null).length;
    return {
      verdict,
      audits: await witness.audits(),
      recoveredMs,
      acknowledged,
      unknown: driver.acknowledgements.length - acknowledged,
      bites: {
        refusedWrites: cluster.count("write.refused"),
        movedShards: (await witness.epochs()) - epochs,
        rescuedRuns: cluster.count("run.rescued"),
        ownEnds: cluster.ownEnds,
      },
    };
  } finally {
    await cluster.stop();
    journal.close();
  }
}

/** The plan over time; answers when each fault really began and ended. */
async function injectAll(cluster: Cluster, plan: readonly Fault[], begin: number): Promise<DoneFault[]> {
  return Promise.all(
    plan.map(async (fault) => {
      await sleep(Math.max(0, begin + fault.atMs - Date.now()));
      const from = Date.now();
      await inject(cluster, fault);
      return { kind: fault.kind, node: fault.node, from, until: Date.now() };
    }),
  );
}

async function drain(witness: Witness): Promise<number | null> {
  const healedAt = Date.now();
  while (Date.now() - healedAt < recoveryBoundMs) {
    if ((await witness.openWork()) === 0) return Date.now() - healedAt;
    await sleep(200);
  }
  return null;
}

function preloadOf(mutant: string | null): string | null {
  if (mutant === null) return null;
  const url = pathToFileURL(join(root, "chaos/dist/chaos/src/mutants/preload.js"));
  url.searchParams.set("mutant", mutant);
  return url.href;
}
