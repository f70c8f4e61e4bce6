import { randomBytes } from "node:crypto";
import { constants, existsSync } from "node:fs";
import { access, chmod, mkdir, readdir, rm, statfs } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { type EmbeddedPostgres, EmbeddedPostgresError, startEmbeddedPostgres } from "@carillon/embedded-postgres";
import { type TestServer, dropAll } from "./test-server.js";

/** The data does not survive the run, so it need not reach the disk. Many small pools are open at once. */
const SETTINGS = {
  fsync: "off",
  full_page_writes: "off",
  max_connections: "300",
  max_wal_size: "256MB",
  shared_buffers: "128MB",
};

const memoryFolder = "/dev/shm";
const neededBytes = 4 * 1024 ** 3;

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
  const place = join(await fastFolder(), `carillon-test-${userInfo().uid}`);
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

/**
 * A folder in memory if there is space. Every test has a database of 700 files. After many deletions in the last seconds, ext4
 * takes up to a second to create as many, because it avoids recently freed inodes.
 */
async function fastFolder(): Promise<string> {
  try {
    await access(memoryFolder, constants.W_OK);
    const { bavail, bsize } = await statfs(memoryFolder);
    return bavail * bsize >= neededBytes ? memoryFolder : tmpdir();
  } catch {
    return tmpdir();
  }
}

function startTestPostgres(dataDir: string, binaryDir: string | undefined): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({ dataDir, settings: SETTINGS, ...(binaryDir && { binaryDir }) });
}

/**
 * Ends the servers of runs that were killed and removes their files. The launcher detects those in use; one without
 * an owner file belongs to a run that is starting.
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
