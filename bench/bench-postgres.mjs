// An embedded PostgreSQL for one benchmark, with fsync and synchronous_commit on, in a temporary folder unless one is named. Each case
// has its own database.
import { readFileSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { startEmbeddedPostgres } from "../packages/embedded-postgres/dist/index.js";

export class BenchPostgres {
  /** `extraSettings`: settings beside the defaults of the embedded server. `keptFolder`: a data folder to keep after the run. */
  static async start(extraSettings = {}, keptFolder) {
    const folder = keptFolder ?? (await mkdtemp(join(tmpdir(), "carillon-bench-")));
    await mkdir(folder, { recursive: true });
    await chmod(folder, 0o711);
    // The commit timestamp is the time when a row became visible, not only when it was written.
    const settings = { track_commit_timestamp: "on", ...extraSettings };
    const postgres = await startEmbeddedPostgres({ dataDir: join(folder, "postgres"), settings });
    return new BenchPostgres(folder, postgres, keptFolder !== undefined);
  }

  #folder;
  #isKept;
  #postgres;
  #count = 0;

  constructor(folder, postgres, isKept) {
    this.#folder = folder;
    this.#isKept = isKept;
    this.#postgres = postgres;
  }

  /** CPU seconds of all PostgreSQL processes. */
  cpuSeconds() {
    return cpuSecondsOfChildren(this.#postgres.pid);
  }

  /** Runs work with an empty database and drops it afterwards. In a kept folder the database stays for the next run. */
  async withDatabase(work) {
    const name = `bench_${this.#count++}`;
    await this.#asAdmin(async (admin) => {
      const { rowCount } = await admin.query("select from pg_database where datname = $1", [name]);
      if (rowCount === 0) await admin.query(`create database ${name}`);
    });
    const url = new URL(this.#postgres.url);
    url.pathname = `/${name}`;
    const reader = new Client({ connectionString: url.href, application_name: "bench" });
    reader.on("error", () => {});
    await reader.connect();
    try {
      return await work({ url: url.href, reader });
    } finally {
      await reader.end();
      if (!this.#isKept) await this.#asAdmin((admin) => admin.query(`drop database ${name} with (force)`));
      await this.#asAdmin((admin) => admin.query("checkpoint"));
    }
  }

  async stop() {
    await this.#postgres.stop(this.#isKept ? "fast" : "immediate");
    if (!this.#isKept) await rm(this.#folder, { recursive: true, force: true });
  }

  async #asAdmin(work) {
    const admin = new Client({ connectionString: this.#postgres.url });
    await admin.connect();
    try {
      return await work(admin);
    } finally {
      await admin.end();
    }
  }
}

// CPU time is read from /proc: unlike elapsed time it hardly depends on the other load of the machine.

const ticksPerSecond = 100;

/** CPU seconds that a process has used so far. */
export function cpuSecondsOf(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const [user, system] = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .slice(11, 13);
  return (Number(user) + Number(system)) / ticksPerSecond;
}

/** The same for its living children: PostgreSQL has one process per connection. */
function cpuSecondsOfChildren(pid) {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return children.split(" ").reduce((sum, child) => sum + cpuSecondsOrZero(child), 0);
}

function cpuSecondsOrZero(pid) {
  try {
    return cpuSecondsOf(pid);
  } catch {
    // The process has ended meanwhile.
    return 0;
  }
}
