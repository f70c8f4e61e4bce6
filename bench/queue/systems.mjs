// The measured systems. Each runs with its own empty database.
import { Client } from "pg";
import { Child } from "./child-process.mjs";

export const systems = [
  { name: "carillon", module: "carillon", on: "postgres", slots: 500, isOurs: true },
  { name: "graphile-worker", module: "graphile-worker", on: "postgres", slots: 24 },
  { name: "pg-boss", module: "pg-boss", on: "postgres", slots: 1_000 },
  { name: "bullmq redis aof", module: "bullmq", on: "redis aof", slots: 200 },
  { name: "bullmq redis", module: "bullmq", on: "redis", slots: 200 },
  {
    name: "bullmq postgres",
    module: "bullmq",
    on: "postgres",
    slots: 50,
    options: { backend: "postgres" },
    isSlow: true,
  },
];

export class SystemRunner {
  #postgres;
  #redis;
  #execPath;

  /** `redis` has the servers by name; a system whose server is missing is skipped. */
  constructor({ postgres, redis, execPath }) {
    this.#postgres = postgres;
    this.#redis = redis;
    this.#execPath = execPath;
  }

  /** The Node.js that every system runs under. */
  get execPath() {
    return this.#execPath;
  }

  has(system) {
    return system.on === "postgres" || this.#redis[system.on] !== undefined;
  }

  /** Runs work with a freshly installed system: `start()` starts a process of it, `reader` is a connection to its database. */
  async with(system, work) {
    if (system.on !== "postgres") return this.#withRedis(system, work);
    return this.#postgres.withDatabase(({ url, reader }) => this.#withProcesses(system, url, reader, work));
  }

  async #withRedis(system, work) {
    const { url } = this.#redis[system.on];
    await this.#redis[system.on].clear();
    return this.#withProcesses(system, url, null, work);
  }

  async #withProcesses(system, url, reader, work) {
    const children = [];
    const start = async (name = `p${children.length}`) => {
      const child = await Child.start(system.module, { url, name, ...system.options }, this.#execPath);
      children.push(child);
      return child;
    };
    try {
      const first = await start();
      await first.call("install");
      return await work({ start, first, url, reader });
    } finally {
      await Promise.all(children.map((child) => child.end()));
    }
  }
}

/** The maintenance that authors of PostgreSQL queues do before they measure. */
export async function vacuumAnalyze(url) {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query("vacuum analyze");
  await client.end();
}
