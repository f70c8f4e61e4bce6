import { writeFileSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { Cluster } from "./cluster/cluster.js";
import { Driver } from "./cluster/driver.js";
import { inject } from "./cluster/inject.js";
import { findFaketime } from "./cluster/node-clock.js";
import { StallMonitor } from "./cluster/stall-monitor.js";
import { DatabaseReader } from "./cluster/database-reader.js";
import { Workers } from "./cluster/workers.js";
import { JournalServer } from "./journal/journal-server.js";
import type { DoneFault } from "./judge/evidence.js";
import { judge, resolveTargets } from "./judge/judge.js";
import { checkFreshness } from "./mutants/check-freshness.js";
import { mutantNamed, mutants } from "./mutants/mutants.js";
import { buildVersion, type BuiltVersion, commitBefore, VersionBeforeMissing } from "./mixed/version-before.js";
import type { Options } from "./options.js";
import type { Fault } from "./plan/fault.js";
import { type Plan, planLines, planRun } from "./plan/plan.js";
import { type FaultEffects, type Result, exitCodes } from "./report.js";
import { root } from "./root.js";

const limits = { leaseMs: 5_000, workerTimeoutMs: 3_000 };
/** How long it takes to detect a lost lease or worker and to start its runs on another node. */
const aftermathMs = limits.leaseMs + limits.workerTimeoutMs + 4_000;
/** The limit from the heal until no work is open. */
const recoveryBoundMs = aftermathMs + 15_000;
const recurring = 36;
const endSignals = ["SIGINT", "SIGTERM"] as const;

export interface ChaosRun {
  readonly options: Options;
  /** The root folder of the checkout that the nodes run at first. */
  readonly firstRoot: string;
  readonly folder: string;
  readonly print: (line: string) => void;
}

/** One run: start, load with faults, heal, drain, judge. */
async function runChaos({ options, firstRoot, folder, print }: ChaosRun): Promise<Result> {
  const preload = preloadOf(options.mutant);
  const request = { ...options, limits, kinds: options.faults, recurring, upgrades: options.mixed !== null };
  const plan = planRun(request);
  for (const line of planLines(request, plan)) print(line);
  const faketime = plan.faults.some((fault) => fault.kind === "clock") ? findFaketime() : null;
  const faults = plan.faults.filter((fault) => fault.kind !== "clock" || faketime !== null);
  if (faults.length < plan.faults.length) print("  the clock faults are skipped: libfaketime is not installed");
  const journal = await JournalServer.start(join(folder, "journal.jsonl"));
  const cluster = await Cluster.start({ root: firstRoot, folder, nodes: options.nodes, ...limits, preload, faketime });
  const workers = plan.workerFaults === null ? null : await startWorkers(cluster, options, folder);
  const stalls = new StallMonitor(() => [
    ...cluster.members.flatMap(({ node }) => node.pid ?? []),
    ...(workers?.pids ?? []),
  ]);
  const stop = async (): Promise<void> => void (await Promise.all([workers?.close(), cluster.stop()]));
  // A signal must not leave child processes behind.
  const onSignal = (): void => void stop().finally(() => process.exit(exitCodes.broken));
  for (const signal of endSignals) process.once(signal, onSignal);
  try {
    return await runLoad({ cluster, workers, journal, stalls, folder }, { ...plan, faults }, options.loadMs);
  } finally {
    for (const signal of endSignals) process.off(signal, onSignal);
    stalls.stop();
    await stop();
    journal.close();
  }
}

/** The server ends an attempt at most this long after its timeout. */
const hangMs = 30_000;

function startWorkers(cluster: Cluster, { seed, loadMs }: Options, folder: string): Promise<Workers> {
  const urls = cluster.members.flatMap(({ node }) => node.url ?? []);
  return Workers.start({ folder, urls, seed, hangsUntil: Date.now() + loadMs - hangMs });
}

interface Harness {
  readonly cluster: Cluster;
  /** External workers, each in its own process. */
  readonly workers: Workers | null;
  readonly journal: JournalServer;
  readonly stalls: StallMonitor;
  readonly folder: string;
}

async function runLoad(
  { cluster, workers, journal, stalls, folder }: Harness,
  plan: Plan,
  loadMs: number,
): Promise<Result> {
  const database = new DatabaseReader(() => cluster.databaseUrl);
  await sleep(limits.leaseMs / 2);
  const epochs = await database.epochs();
  const loadStart = Math.ceil(Date.now() / 1_000) * 1_000;
  const driver = new Driver(cluster, journal, loadStart);
  const [faults, disturbed = [], { histories, dependents }] = await Promise.all([
    injectAll(cluster, plan.faults, loadStart),
    workers?.disturb(plan.workerFaults ?? [], loadStart),
    driver.drive(plan),
  ]);
  await sleep(Math.max(0, loadStart + loadMs - Date.now()));
  const recoveredMs = await drain(database);
  writeFileSync(join(folder, "histories.json"), JSON.stringify({ histories, dependents }));
  const seen = {
    histories,
    dependents,
    journal: journal.entries,
    runs: await database.runs(),
    ledger: await database.ledger(),
    faults: [...faults, ...disturbed, ...stalls.stalls],
    aftermathMs,
  };
  const requested = [...histories, ...dependents];
  const acknowledged = requested.filter((history) => history.acknowledgedAt !== null).length;
  return {
    verdict: judge({ ...seen, targets: resolveTargets(histories, seen) }),
    audits: await database.audits(),
    recoveredMs,
    requests: {
      jobs: acknowledged,
      unknownJobs: requested.length - acknowledged,
      changes: histories.flatMap((history) => history.changes).length,
      runNows: histories.flatMap((history) => history.runNows).filter((outcome) => outcome === "made").length,
    },
    faultEffects: {
      ...faultEffectsOf(cluster, (await database.epochs()) - epochs, stalls.stalls.length),
      falseReports: workers?.falseReports ?? 0,
      refusedResults: workers?.refused ?? 0,
    },
    starvation: stalls.starvation,
  };
}

function faultEffectsOf(
  cluster: Cluster,
  movedShards: number,
  stalls: number,
): Omit<FaultEffects, "falseReports" | "refusedResults"> {
  const guarded = mutants.flatMap(({ guardedBy }) => guardedBy ?? []);
  return {
    refusedWrites: cluster.count("write.fenced"),
    refusedBy: Object.fromEntries(guarded.map((name) => [name, cluster.count(`write.fenced ${name}`)])),
    movedShards,
    rescuedRuns: cluster.count("runs.rescued"),
    unexpectedExits: cluster.unexpectedExits,
    stalls,
  };
}

/**
 * Injects the planned faults and returns when each one really began and ended. Faults of one node, and those of the
 * database, wait for one another, because a slow start can make a fault longer than planned.
 */
async function injectAll(cluster: Cluster, plan: readonly Fault[], loadStart: number): Promise<DoneFault[]> {
  const targets = [...new Set(plan.map((fault) => fault.node))];
  const done = targets.map(async (target) => {
    const faults: DoneFault[] = [];
    for (const fault of plan.filter(({ node }) => node === target)) {
      await sleep(Math.max(0, loadStart + fault.atMs - Date.now()));
      const from = Date.now();
      await inject(cluster, fault);
      faults.push({ kind: fault.kind, node: fault.node, from, until: Date.now() });
    }
    return faults;
  });
  return (await Promise.all(done)).flat();
}

async function drain(database: DatabaseReader): Promise<number | null> {
  const healedAt = Date.now();
  while (Date.now() - healedAt < recoveryBoundMs) {
    if ((await database.openWork()) === 0) return Date.now() - healedAt;
    await sleep(200);
  }
  return null;
}

/** The URL of the module that turns a node into the mutant. */
function preloadOf(name: string | null): string | null {
  if (name === null) return null;
  const url = pathToFileURL(join(root, "chaos/dist/chaos/src/mutants/preload.js"));
  url.searchParams.set("mutant", name);
  return url.href;
}

export type Print = (line: string) => void;

/**
 * Runs in a new folder and removes it afterwards, unless `--keep` is set or the harness failed. Refuses a mutant whose
 * texts are no longer in the product.
 */
export async function runInFolder(options: Options, print: Print): Promise<Result> {
  if (options.mutant !== null) checkFreshness(mutantNamed(options.mutant), "build");
  const folder = await mkdtemp(join(tmpdir(), "carillon-chaos-"));
  // PostgreSQL runs as another user if the harness runs as root, and needs access to the folder.
  await chmod(folder, 0o711);
  let isKept = true;
  let before: BuiltVersion | null = null;
  try {
    if (options.mixed !== null) before = await buildVersion(await commitBefore(options.mixed.ref), folder, print);
    const result = await runChaos({ options, firstRoot: before?.root ?? root, folder, print });
    isKept = options.keep;
    return result;
  } catch (error) {
    if (error instanceof VersionBeforeMissing) isKept = false;
    throw error;
  } finally {
    await before?.remove();
    if (isKept) print(`kept: ${folder}`);
    else await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
