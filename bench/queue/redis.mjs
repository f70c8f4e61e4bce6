// Redis for BullMQ: Debian's server on a port of its own in a folder that goes away. Where it is not installed and cannot be
// (scripts/servers/redis.sh), those columns are left out and the report says so.
import { execFileSync, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const script = fileURLToPath(new URL("../../scripts/servers/redis.sh", import.meta.url));

/** `null` where there is no Redis. Its append-only file is synced every second, which is what its makers recommend. */
export async function startRedis({ aof }) {
  try {
    execFileSync("sh", [script, "install"], { stdio: ["ignore", "ignore", "inherit"] });
  } catch {
    return null;
  }
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), "carillon-redis-"));
  const persistence = aof ? ["--appendonly", "yes", "--appendfsync", "everysec"] : ["--appendonly", "no"];
  const args = ["--bind", "127.0.0.1", "--port", String(port), "--save", "", "--dir", folder, ...persistence];
  const server = spawn("redis-server", args, { stdio: "ignore" });
  await untilOpen(port);
  return {
    url: `redis://127.0.0.1:${port}`,
    /** Empties it. */
    clear: () => send(port, "FLUSHALL"),
    async stop() {
      const exited = new Promise((resolve) => server.once("exit", resolve));
      server.kill("SIGKILL");
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

async function untilOpen(port) {
  for (let tries = 0; tries < 100; tries++) {
    const isOpen = await new Promise((resolve) => {
      const socket = connect(port, "127.0.0.1", () => resolve(true));
      socket.once("error", () => resolve(false));
      socket.once("connect", () => socket.end());
    });
    if (isOpen) return;
    await sleep(50);
  }
  throw new Error("Redis did not open its port within five seconds");
}

function send(port, command) {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(`${command}\r\n`));
    socket.once("error", reject);
    socket.once("data", () => socket.end(resolve));
  });
}
