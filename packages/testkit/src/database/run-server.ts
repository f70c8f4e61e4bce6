import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, rm } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { type EmbeddedPostgres, EmbeddedPostgresError, startEmbeddedPostgres } from "@carillon/embedded-postgres";
import { dropAll } from "./admin.js";
import type { TestServer } from "./test-server.js";

/** Nothing here outlives the run, so nothing needs to reach the disk. Many small pools open side by side. */
const SETTINGS = { fsync: "off", full_page_writes: "off", max_connections: "300", shared_buffers: "128MB" };

export interface RunServer {
  readonly server: TestServer;
  stop(): Promise<void>;
}

/**
 * The server for one test run: the one of CARILLON_TEST_DATABASE_URL (a superuser's URL), else an embedded one, of
 * another version when CARILLON_TEST_POSTGRES_BINARIES names its folder.
 */
export async function startRunServer(env: NodeJS.ProcessEnv): Promise<RunServer> {
  const prefix = `carillon_t${randomBytes(4).toString("hex")}_`;
  const url = env["CARILLON_TEST_DATABASE_URL"];
  if (url) {
    const server = { url, prefix };
    return { server, stop: () => dropAll(server) };
  }
  const place = join(tmpdir(), `carillon-test-${userInfo().uid}`);
  await mkdir(place, { recursive: true });
  await chmod(place, 0o711);
  await removeAbandoned(place);
  const dataDir = join(place, prefix);
  const embedded = await startTestPostgres(dataDir, env["CARILLON_TEST_POSTGRES_BINARIES"]);
  return {
    server: { url: embedded.url, prefix },
    async stop() {
      await embedded.stop("immediate");
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

function startTestPostgres(dataDir: string, binaryDir: string | undefined): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({ dataDir, settings: SETTINGS, ...(binaryDir && { binaryDir }) });
}

/**
 * Ends the servers of runs that were killed and removes their files. The launcher tells which are still in use; one
 * without an owner's mark belongs to a run that is just starting.
 */
async function removeAbandoned(place: string): Promise<void> {
  for (const name of await readdir(place)) {
    const dataDir = join(place, name);
    if (!existsSync(join(dataDir, "owner"))) continue;
    try {
      await (await startTestPostgres(dataDir, undefined)).stop("immediate");
    } catch (error) {
      if (error instanceof EmbeddedPostgresError && error.code === "embedded_data_dir_in_use") continue;
    }
    await rm(dataDir, { recursive: true, force: true });
  }
}
