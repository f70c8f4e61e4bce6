import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import type { Fault, FaultKind } from "../plan/fault.js";
import { type Step, commit } from "../plan/step.js";
import { root } from "../root.js";
import type { Cluster, Member } from "./cluster.js";

const delayMs = 150;
/** A node that does not reach the step in this time is killed anyway. */
const maxWaitMs = 2_000;

/** The parameters of one fault, and the database address without any proxy. */
interface FaultParams {
  readonly lastsMs: number;
  readonly byMs: number;
  readonly at: Step | null;
  readonly databaseUrl: string;
}

type NodeFault = Exclude<FaultKind, "database" | "database_kill">;
type Injection = (member: Member, doing: FaultParams) => Promise<void>;

const injections: Readonly<Record<NodeFault, Injection>> = {
  kill: (member, { lastsMs }) => restart(member, "SIGKILL", lastsMs),
  async kill_at(member, { lastsMs, at }) {
    if (at !== null) await member.wire.at(at, () => member.node.kill(), maxWaitMs);
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
    // The proxy holds nothing back from a node that sent nothing.
    await Promise.race([held, sleep(0)]);
  },
  async delay({ proxy }, { lastsMs }) {
    proxy.delay(delayMs);
    await sleep(lastsMs);
    await proxy.resume();
  },
  async deaf({ wire }, { lastsMs }) {
    wire.dropsNotifications = true;
    await sleep(lastsMs);
    wire.dropsNotifications = false;
  },
  async clock({ clock }, { lastsMs, byMs }) {
    clock?.move(byMs);
    await sleep(lastsMs);
    clock?.move(0);
  },
  upgrade: (member) => upgrade(member, false),
  upgrade_killed: (member) => upgrade(member, true),
  async pool({ proxy }, { lastsMs, databaseUrl }) {
    const hog = new ConnectionHog();
    // The node stays locked out until the hog holds its former connections.
    await proxy.refuse();
    proxy.cut();
    await hog.fill(databaseUrl);
    await proxy.resume();
    await sleep(lastsMs);
    await hog.release();
  },
};

/** The transaction of a migration ends with this statement and its commit. */
const endOfMigration = { when: "before", statement: "(number, name, sha256, applied_at)" } as const;
/** A node without a migration to apply is killed after this time. */
const maxMigrationMs = 15_000;

/** The node runs this checkout from now on. It may be killed while it applies the first migration that the schema lacks. */
async function upgrade({ node, wire }: Member, isKilled: boolean): Promise<void> {
  await node.end("SIGTERM");
  node.use(root);
  if (isKilled) {
    const killed = wire.at(endOfMigration, () => node.kill(), maxMigrationMs);
    await Promise.all([killed, node.start()]);
    await node.end("SIGKILL");
  }
  await node.start();
}

/** The database executes the next statement of that name, and its answer is lost. */
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

/** Stands for another program: opens connections until the server refuses more, and holds them. */
class ConnectionHog {
  readonly #clients: Client[] = [];

  /** Resolves when the server refuses the next connection. */
  async fill(url: string): Promise<void> {
    for (;;) {
      const client = new Client({ connectionString: url });
      client.on("error", () => undefined);
      try {
        await client.connect();
      } catch {
        return;
      }
      this.#clients.push(client);
    }
  }

  async release(): Promise<void> {
    await Promise.allSettled(this.#clients.splice(0).map((client) => client.end()));
  }
}
