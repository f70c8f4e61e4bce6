import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { startEmbeddedPostgres } from "@carillon/embedded-postgres";
import { allMigrations } from "@carillon/engine";
import { Client } from "pg";
import { describe, expect, it } from "vitest";
import { CarillonProcess } from "../process/carillon-process.js";
import { processesAt, scratchDir } from "../process/scratch.js";
import { storedDataDir } from "../process/stored-data-dir.js";

async function carillon(...args: readonly string[]) {
  const process = new CarillonProcess(args);
  const { code } = await process.ended;
  return { code, stdout: process.stdout, stderr: process.stderr };
}

describe("commands of a server", () => {
  it("server migrate --dry-run creates no database, and reports that it would", async () => {
    const dataDir = join(await scratchDir(), "none", "yet");
    const dry = await carillon("server", "migrate", "--data-dir", dataDir, "--dry-run", "--json");
    expect(dry.code).toBe(0);
    expect(JSON.parse(dry.stdout)).toEqual({ applied: [], pending: allMigrations(), creates: dataDir });
    expect(dry.stderr).toContain(`there is no database in ${dataDir} yet`);
    await expect(stat(dirname(dataDir))).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("server migrate lists pending migrations, runs them once, and leaves no process", async () => {
    const dataDir = await storedDataDir();
    const migrate = (...args: readonly string[]) => carillon("server", "migrate", "--data-dir", dataDir, ...args);
    const dry = await migrate("--dry-run");
    expect(dry).toMatchObject({ code: 0, stdout: expect.stringMatching(/^0001_initial\n/) });
    expect(dry.stderr).toContain("nothing was run");
    expect(await migrate()).toMatchObject({ code: 0, stdout: dry.stdout });
    const again = await migrate("--json");
    expect({ code: again.code, report: JSON.parse(again.stdout) }).toEqual({
      code: 0,
      report: { applied: [], pending: [] },
    });
    expect(await processesAt(dataDir)).toEqual([]);
  });

  it("doctor runs the audits of the invariants, and ends with 1 when one finds something", async () => {
    const postgres = await startEmbeddedPostgres({ dataDir: await storedDataDir() });
    const doctor = async () => {
      const { code, stdout } = await carillon("doctor", "--database-url", postgres.url, "--json");
      const findings: { name: string; status: string; detail: string }[] = JSON.parse(stdout);
      return { code, audits: findings.filter(({ name }) => name === "invariants" || name.startsWith("INV-")) };
    };
    expect(await doctor()).toEqual({ code: 0, audits: [] });
    await carillon("server", "migrate", "--database-url", postgres.url);
    expect(await doctor()).toMatchObject({ code: 0, audits: [{ name: "invariants", status: "ok" }] });
    const client = new Client({ connectionString: postgres.url });
    await client.connect();
    await client.query(`insert into carillon.job_due (job_id, namespace_id, shard, class, state, version, fired_through)
      select gen_random_uuid(), 1, 1, 1, 'completed', 1, now() from generate_series(1, 2)`);
    await client.end();
    const broken = await doctor();
    expect(broken).toMatchObject({ code: 1, audits: [{ name: "INV-11", status: "fail" }] });
    expect(broken.audits[0]?.detail).toMatch(/^2 rows against ".*", such as \{"job_id":"[0-9a-f-]{36}","instant":/);
    await postgres.stop();
  });

  it("doctor checks a database and ends with 1 only if a check fails", async () => {
    const postgres = await startEmbeddedPostgres({ dataDir: await storedDataDir(), settings: { fsync: "off" } });
    const { code, stdout } = await carillon("doctor", "--database-url", postgres.url, "--json");
    const findings: { name: string; status: string; detail: string }[] = JSON.parse(stdout);
    expect(code).toBe(0);
    expect(findings.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["node", "zone data", "database", "pooler", "clock skew", "schema", "settings"]),
    );
    expect(findings.find(({ name }) => name === "database")).toMatchObject({
      status: "ok",
      detail: `PostgreSQL ${postgres.version} answers`,
    });
    expect(findings.find(({ name }) => name === "schema")).toMatchObject({ status: "warn" });
    expect(findings.find(({ name }) => name === "settings")).toMatchObject({ status: "warn", detail: "fsync is off" });
    await postgres.stop();

    const away = await carillon("doctor", "--database-url", postgres.url);
    expect(away.code).toBe(1);
    expect(away.stdout).toMatch(/^fail {2}database .*\n +→ start the server/m);
    expect(away.stdout).not.toContain(new URL(postgres.url).password);
  });
});
