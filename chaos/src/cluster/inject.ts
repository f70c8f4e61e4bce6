import { setTimeout as sleep } from "node:timers/promises";
import type { Fault, FaultKind } from "../plan/fault.js";
import type { Cluster, Member } from "./cluster.js";
import { ConnectionHog } from "./connection-hog.js";
import { type Step, commit } from "../plan/step.js";

const delayMs = 150;
/** A node that does not come to the step for so long is killed all the same. */
const longestWaitMs = 2_000;

/** The fault's own numbers, and the way past all proxies. */
interface Doing {
  readonly lastsMs: number;
  readonly byMs: number;
  readonly at: Step | null;
  readonly databaseUrl: string;
}

type NodeFault = Exclude<FaultKind, "database" | "database_kill">;
type Injection = (member: Member, doing: Doing) => Promise<void>;

const injections: Readonly<Record<NodeFault, Injection>> = {
  kill: (member, { lastsMs }) => restart(member, "SIGKILL", lastsMs),
  async kill_at(member, { lastsMs, at }) {
    if (at !== null) await member.wire.at(at, () => member.node.kill(), longestWaitMs);
    await restart(member, "SIGKILL", lastsMs);
  },
  stop: (member, { lastsMs }) => restart(member, "SIGTERM", lastsMs),
  async freeze({ node }, { lastsMs }) {
    node.freeze();
    await sleep(lastsMs);
    node.thaw();
  },
  async reset({ proxy }) {
    proxy.cut();
  },
  lose_fire: (member, { lastsMs }) => loseAnswer(member, "due.fire", lastsMs),
  lose_claim: (member, { lastsMs }) => loseAnswer(member, "run.complete_and_claim", lastsMs),
  lose_result: (member, { lastsMs }) => loseAnswer(member, "run.finish", lastsMs),
  lose_commit: (member, { lastsMs }) => loseAnswer(member, commit, lastsMs),
  async cut({ proxy }, { lastsMs }) {
    const held = proxy.blackHole();
    await sleep(lastsMs);
    await proxy.resume();
    // A node with nothing to say had nothing held back.
    await Promise.race([held, sleep(0)]);
  },
  async delay({ proxy }, { lastsMs }) {
    proxy.delay(delayMs);
    await sleep(lastsMs);
    await proxy.resume();
  },
  async deaf({ wire }, { lastsMs }) {
    wire.isDeaf = true;
    await sleep(lastsMs);
    wire.isDeaf = false;
  },
  async clock({ clock }, { lastsMs, byMs }) {
    clock?.move(byMs);
    await sleep(lastsMs);
    clock?.move(0);
  },
  async pool({ proxy }, { lastsMs, databaseUrl }) {
    const hog = new ConnectionHog();
    // The node is kept out until its former connections are somebody else's.
    await proxy.refuse();
    proxy.cut();
    await hog.fill(databaseUrl);
    await proxy.resume();
    await sleep(lastsMs);
    await hog.release();
  },
};

/** The next statement of that name is done, and the node cannot know. */
async function loseAnswer({ proxy }: Member, statement: string, lastsMs: number): Promise<void> {
  proxy.loseAnswerTo(statement);
  await sleep(lastsMs);
  await proxy.resume();
}

async function restart({ node }: Member, signal: "SIGKILL" | "SIGTERM", downMs: number): Promise<void> {
  await node.end(signal);
  await sleep(downMs);
  await node.start();
}

/** Does a fault and undoes it. Resolves when it is over. */
export async function inject(cluster: Cluster, { kind, node, lastsMs, byMs, at }: Fault): Promise<void> {
  const { databaseUrl } = cluster;
  if (kind !== "database" && kind !== "database_kill")
    return injections[kind](cluster.member(node ?? 0), { lastsMs, byMs: byMs ?? 0, at, databaseUrl });
  await (kind === "database" ? cluster.stopDatabase() : cluster.killDatabase());
  await sleep(lastsMs);
  await cluster.startDatabase();
}
