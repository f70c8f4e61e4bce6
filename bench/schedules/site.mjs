// PostgreSQL for one benchmark: the embedded one with its own settings, fsync and synchronous_commit on, in a folder that
// goes away with the run unless it is named. Each case has a database of its own.
import { rm, mkdir, mkdtemp, chmod } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbeddedPostgres } from "../../packages/embedded-postgres/dist/index.js";
import { Client } from "pg";
import { cpuSecondsOfChildren } from "./cpu.mjs";

export class Site {
  /** `more`: settings beside the embedded database's own. `kept`: a folder that stays, with all that is in it. */
  static async start(more = {}, kept) {
    const folder = kept ?? (await mkdtemp(join(tmpdir(), "carillon-bench-")));
    await mkdir(folder, { recursive: true });
    await chmod(folder, 0o711);
    // The commit's time says when a row could be seen, and not only when it was written.
    const settings = { track_commit_timestamp: "on", ...more };
    const postgres = await startEmbeddedPostgres({ dataDir: join(folder, "postgres"), settings });
    return new Site(folder, postgres, kept !== undefined);
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

  /** Seconds of processor time of PostgreSQL, all of its processes together. */
  cpuSeconds() {
    return cpuSecondsOfChildren(this.#postgres.pid);
  }

  /** Runs work over an empty database, which is dropped afterwards. One in a folder that stays, stays too: the next run finds it. */
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
