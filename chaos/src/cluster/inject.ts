import { setTimeout as sleep } from "node:timers/promises";
import type { Fault, FaultKind } from "../plan/faults.js";
import type { Cluster, Member } from "./cluster.js";

const delayMs = 150;

type Injection = (member: Member, lastsMs: number) => Promise<void>;

const injections: Readonly<Record<Exclude<FaultKind, "database">, Injection>> = {
  kill: (member, lastsMs) => restart(member, "SIGKILL", lastsMs),
  stop: (member, lastsMs) => restart(member, "SIGTERM", lastsMs),
  async freeze({ node }, lastsMs) {
    node.freeze();
    await sleep(lastsMs);
    node.thaw();
  },
  async reset({ proxy }) {
    proxy.cut();
  },
  async lose_answer({ proxy }, lastsMs) {
    proxy.loseAnswerTo("due.fire");
    await sleep(lastsMs);
    await proxy.resume();
  },
  async cut({ proxy }, lastsMs) {
    const held = proxy.blackHole();
    await sleep(lastsMs);
    await proxy.resume();
    // A node with nothing to say had nothing held back.
    await Promise.race([held, sleep(0)]);
  },
  async delay({ proxy }, lastsMs) {
    proxy.delay(delayMs);
    await sleep(lastsMs);
    await proxy.resume();
  },
};

async function restart({ node }: Member, signal: "SIGKILL" | "SIGTERM", downMs: number): Promise<void> {
  await node.end(signal);
  await sleep(downMs);
  await node.start();
}

/** Does a fault and undoes it. Resolves when it is over. */
export async function inject(cluster: Cluster, { kind, node, lastsMs }: Fault): Promise<void> {
  if (kind !== "database") return injections[kind](cluster.member(node ?? 0), lastsMs);
  await cluster.stopDatabase();
  await sleep(lastsMs);
  await cluster.startDatabase();
}
