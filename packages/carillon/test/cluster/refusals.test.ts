import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CarillonProcess } from "../process/carillon-process.js";
import { oldServer } from "../process/old-server.js";
import { scratchDir } from "../process/scratch.js";

describe("a node that cannot start", () => {
  it("lists every mistake of the configuration on standard error and ends with 78", async () => {
    const cwd = await scratchDir();
    await writeFile(join(cwd, "carillon.config.json"), JSON.stringify({ prot: 1, log_level: "loud" }));
    const process = new CarillonProcess(["server", "start", "--worker-slots", "-1"], {
      cwd,
      env: { CARILLON_HSOT: "x" },
    });
    expect(await process.ended).toEqual({ code: 78, signal: null });
    expect(process.stdout).toBe("");
    expect(process.stderr).toBe(
      [
        "carillon: The configuration has 4 mistakes:",
        "  - prot is not a setting; did you mean port? (from carillon.config.json)",
        "  - CARILLON_HSOT is not a setting; did you mean CARILLON_HOST? (from the environment)",
        '  - worker_slots must be a whole number from 0 to 10000, not "-1" (from --worker-slots)',
        '  - log_level must be one of trace, debug, info, warn, error, fatal, silent, not "loud" (from carillon.config.json)',
        "",
      ].join("\n"),
    );
  });

  it("ends with 78 when the named configuration file is not there", async () => {
    const process = new CarillonProcess(["server", "config", "--config", "nowhere.json"], { cwd: await scratchDir() });
    expect(await process.ended).toEqual({ code: 78, signal: null });
    expect(process.stderr).toMatch(/carillon: The configuration file .*nowhere\.json cannot be read \(ENOENT\)/);
  });

  it("says that the data folder cannot be used, and what to do", async () => {
    const file = join(await scratchDir(), "file");
    await writeFile(file, "");
    const process = new CarillonProcess(["dev", "--port", "0", "--data-dir", join(file, "data")]);
    expect(await process.ended).toEqual({ code: 1, signal: null });
    expect(process.stderr).toMatch(/carillon: .*data directory .*file\/data cannot be used.*--data-dir/);
  });

  it("waits for a database that is away, says so, and gives up with a failure after the configured time", async () => {
    const process = new CarillonProcess(["server", "start"], {
      env: { CARILLON_DATABASE_URL: "postgres://app:s3cret@127.0.0.1:1/x", CARILLON_DATABASE_CONNECT_TIMEOUT: "300ms" },
    });
    expect(await process.ended).toEqual({ code: 1, signal: null });
    expect(process.stderr).toMatch(/waiting for the database, 1 s left: .*ECONNREFUSED/);
    expect(process.stderr).toMatch(/^carillon: Gave up after/m);
    expect(process.stderr).not.toContain("s3cret");
  });

  it("refuses a server older than PostgreSQL 14 at once", async () => {
    const server = oldServer("13.22", 130_022).listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const port = typeof address === "object" ? address?.port : 0;
    const url = `postgres://app@127.0.0.1:${port}/x`;
    const process = new CarillonProcess(["server", "start", "--database-url", url, "--database-connect-timeout", "1h"]);
    expect(await process.ended).toEqual({ code: 1, signal: null });
    expect(process.stderr).toMatch(/carillon: The server is PostgreSQL 13\.22; PostgreSQL 14 or newer is needed/);
    server.close();
  });

  it("a signal ends the wait for the database", async () => {
    const process = new CarillonProcess([
      "server",
      "start",
      "--database-url",
      "postgres://127.0.0.1:1/x",
      "--database-connect-timeout",
      "1h",
    ]);
    await process.line(/waiting for the database/);
    process.kill("SIGTERM");
    expect(await process.ended).toEqual({ code: 0, signal: null });
  });
});
