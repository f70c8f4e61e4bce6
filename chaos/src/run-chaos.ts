import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { Cluster } from "./cluster/cluster.js";
import { Driver } from "./cluster/driver.js";
import { inject } from "./cluster/inject.js";
import { findFaketime } from "./cluster/node-clock.js";
import { StallWatch } from "./cluster/stall-watch.js";
import { Witness } from "./cluster/witness.js";
import { Workers } from "./cluster/workers.js";
import { JournalServer } from "./journal/journal-server.js";
import type { DoneFault } from "./judge/evidence.js";
import { judge } from "./judge/judge.js";
import { resolveTargets } from "./judge/resolve-targets.js";
import { mutants } from "./mutants/mutants.js";
import type { Options } from "./options.js";
import { exitCodes } from "./outcome.js";
import type { Fault } from "./plan/fault.js";
import { type Plan, planLines, planRun } from "./plan/plan.js";
import type { Bites, Result } from "./report.js";
import { root } from "./root.js";

const limits = { leaseMs: 5_000, workerTimeoutMs: 3_000 };
/** A lost lease or worker is noticed, and what it left is begun elsewhere. */
const aftermathMs = limits.leaseMs + limits.workerTimeoutMs + 4_000;
/** From the heal until nothing is left to do. */
const recoveryBoundMs = aftermathMs + 15_000;
const recurring = 36;
const endSignals = ["SIGINT", "SIGTERM"] as const;

export interface Session {
  readonly options: Options;
  readonly folder: string;
  readonly say: (line: string) => void;
}

/** One run: start, load with faults, heal, drain, judge. */
export async function runChaos({ options, folder, say }: Session): Promise<Result> {
  const preload = preloadOf(options.mutant);
  const request = { ...options, limits, kinds: options.faults, recurring };
  const plan = planRun(request);
  for (const line of planLines(request, plan)) say(line);
  const faketime = plan.faults.some((fault) => fault.kind === "clock") ? findFaketime() : null;
  const faults = plan.faults.filter((fault) => fault.kind !== "clock" || faketime !== null);
  if (faults.length < plan.faults.length) say("  the clock faults are left out: libfaketime is not installed");
  const journal = await JournalServer.start(join(folder, "journal.jsonl"));
  const cluster = await Cluster.start({ folder, nodes: options.nodes, ...limits, preload, faketime });
  const workers = plan.workerFaults === null ? null : await startWorkers(cluster, options, folder);
  const stalls = new StallWatch(() => [
    ...cluster.members.flatMap(({ node }) => node.pid ?? []),
    ...(workers?.pids ?? []),
  ]);
  const stop = async (): Promise<void> => void (await Promise.all([workers?.close(), cluster.stop()]));
  // Who ends us must not leave processes behind.
  const onSignal = (): void => void stop().finally(() => process.exit(exitCodes.broken));
  for (const signal of endSignals) process.once(signal, onSignal);
  try {
    return await judgedLoad({ cluster, workers, journal, stalls, folder }, { ...plan, faults }, options.loadMs);
  } finally {
    for (const signal of endSignals) process.off(signal, onSignal);
    stalls.stop();
    await stop();
    journal.close();
  }
}

/** The server ends an attempt so long after its timeout, at the latest. */
const hangMs = 30_000;

function startWorkers(cluster: Cluster, { seed, loadMs }: Options, folder: string): Promise<Workers> {
  const urls = cluster.members.flatMap(({ node }) => node.url ?? []);
  return Workers.start({ folder, urls, seed, hangsUntil: Date.now() + loadMs - hangMs });
}

interface Stage {
  readonly cluster: Cluster;
  /** In processes of their own. */
  readonly workers: Workers | null;
  readonly journal: JournalServer;
  readonly stalls: StallWatch;
  readonly folder: string;
}

async function judgedLoad(
  { cluster, workers, journal, stalls, folder }: Stage,
  plan: Plan,
  loadMs: number,
): Promise<Result> {
  const witness = new Witness(() => cluster.databaseUrl);
  await sleep(limits.leaseMs / 2);
  const epochs = await witness.epochs();
  const begin = Math.ceil(Date.now() / 1_000) * 1_000;
  const driver = new Driver(cluster, journal, begin);
  const [faults, disturbed = [], { lives, followers }] = await Promise.all([
    injectAll(cluster, plan.faults, begin),
    workers?.disturb(plan.workerFaults ?? [], begin),
    driver.drive(plan),
  ]);
  await sleep(Math.max(0, begin + loadMs - Date.now()));
  const recoveredMs = await drain(witness);
  writeFileSync(join(folder, "lives.json"), JSON.stringify({ lives, followers }));
  const seen = {
    lives,
    followers,
    journal: journal.entries,
    runs: await witness.runs(),
    ledger: await witness.ledger(),
    faults: [...faults, ...disturbed, ...stalls.stalls],
    aftermathMs,
  };
  const asked = [...lives, ...followers];
  const acknowledged = asked.filter((life) => life.acknowledgedAt !== null).length;
  return {
    verdict: judge({ ...seen, targets: resolveTargets(lives, seen) }),
    audits: await witness.audits(),
    recoveredMs,
    asked: {
      jobs: acknowledged,
      unknownJobs: asked.length - acknowledged,
      changes: lives.flatMap((life) => life.changes).length,
      runNows: lives.flatMap((life) => life.runNows).filter((outcome) => outcome === "made").length,
    },
    bites: {
      ...bitesOf(cluster, (await witness.epochs()) - epochs, stalls.stalls.length),
      lies: workers?.lies ?? 0,
      refusedResults: workers?.refused ?? 0,
    },
    starvation: stalls.starvation,
  };
}

function bitesOf(cluster: Cluster, movedShards: number, stalls: number): Omit<Bites, "lies" | "refusedResults"> {
  const guarded = mutants.flatMap(({ guardedBy }) => guardedBy ?? []);
  return {
    refusedWrites: cluster.count("write.refused"),
    refusedBy: Object.fromEntries(guarded.map((name) => [name, cluster.count(`write.refused ${name}`)])),
    movedShards,
    rescuedRuns: cluster.count("run.rescued"),
    ownEnds: cluster.ownEnds,
    stalls,
  };
}

/**
 * The plan over time; answers when each fault really began and ended. On one node, and on the database, each waits for the one before,
 * which a slow start may make longer than planned.
 */
async function injectAll(cluster: Cluster, plan: readonly Fault[], begin: number): Promise<DoneFault[]> {
  const targets = [...new Set(plan.map((fault) => fault.node))];
  const done = targets.map(async (target) => {
    const faults: DoneFault[] = [];
    for (const fault of plan.filter(({ node }) => node === target)) {
      await sleep(Math.max(0, begin + fault.atMs - Date.now()));
      const from = Date.now();
      await inject(cluster, fault);
      faults.push({ kind: fault.kind, node: fault.node, from, until: Date.now() });
    }
    return faults;
  });
  return (await Promise.all(done)).flat();
}

async function drain(witness: Witness): Promise<number | null> {
  const healedAt = Date.now();
  while (Date.now() - healedAt < recoveryBoundMs) {
    if ((await witness.openWork()) === 0) return Date.now() - healedAt;
    await sleep(200);
  }
  return null;
}

/** The module that makes a node the mutant. */
function preloadOf(name: string | null): string | null {
  if (name === null) return null;
  const url = pathToFileURL(join(root, "chaos/dist/chaos/src/mutants/preload.js"));
  url.searchParams.set("mutant", name);
  return url.href;
}
