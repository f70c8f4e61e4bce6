// The peers: installs their packages, and starts a temporary Redis for BullMQ. Where Redis cannot be installed (scripts/servers/redis.sh),
// the systems that need it are skipped with a message.
import { execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { say } from "../report.mjs";

const script = fileURLToPath(new URL("../../scripts/servers/redis.sh", import.meta.url));

/** Returns null without Redis. With `aof`, the append-only file is synced every second, as the Redis documentation recommends. */
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
  await waitUntilOpen(port);
  return {
    url: `redis://127.0.0.1:${port}`,
    /** Deletes all keys. */
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

async function waitUntilOpen(port) {
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

const peersFolder = fileURLToPath(new URL("peers", import.meta.url));

/** Installs the packages of the peers once; returns the path of the Node.js that all systems run under. */
export function installPeers() {
  const node = `${peersFolder}/node_modules/node24/bin/node`;
  if (!existsSync(node)) {
    say("installing graphile-worker, pg-boss, BullMQ and Node 24 (npm ci in bench/queue/peers)");
    execFileSync("npm", ["ci", "--no-audit", "--no-fund"], {
      cwd: peersFolder,
      stdio: ["ignore", "ignore", "inherit"],
    });
  }
  return node;
}
