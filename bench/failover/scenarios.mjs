// How a node is lost, and which servers are involved beside the nodes and PostgreSQL.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const script = (name) => fileURLToPath(new URL(`../../scripts/servers/${name}.sh`, import.meta.url));
const isCommand = (program) => spawnSync("sh", ["-c", `PATH="$PATH:/usr/sbin" command -v ${program}`]).status === 0;
const always = () => true;
const kill = (node) => node.end("SIGKILL");
const direct = async (url) => ({ url, settings: {}, stop: async () => {} });

/**
 * `lose` resolves when the node is lost; `between` returns how the nodes reach the database and with which settings; `repeats` is the number
 * of losses without --quick.
 */
export const scenarios = {
  killed: { name: "killed, direct connection", repeats: 10, isInstalled: always, lose: kill, between: direct },
  frozen: {
    name: "frozen",
    repeats: 5,
    isInstalled: always,
    lose: async (node) => node.freeze(),
    between: direct,
  },
  pooler: {
    name: "killed, behind a pooler (no advisory locks)",
    repeats: 5,
    isInstalled: () => isCommand("pgbouncer"),
    lose: kill,
    between: behindPooler,
  },
  etcd: {
    name: "killed, etcd coordinates",
    repeats: 5,
    isInstalled: () => isCommand("etcd"),
    lose: kill,
    between: withEtcd,
  },
};

async function behindPooler(url) {
  const { hostname, port, username, password, pathname } = new URL(url);
  const env = {
    PGHOST: hostname,
    PGPORT: port,
    PGUSER: username,
    PGPASSWORD: decodeURIComponent(password),
    PGDATABASE: pathname.slice(1),
    POOL_SIZE: "40",
  };
  const pooler = await startServer("pgbouncer", env);
  const through = new URL(url);
  through.port = String(pooler.port);
  return { url: through.href, settings: {}, stop: pooler.stop };
}

async function withEtcd(url) {
  const etcd = await startServer("etcd", {});
  const settings = { coordinator: "etcd", "etcd-endpoints": `http://127.0.0.1:${etcd.port}` };
  return { url, settings, stop: etcd.stop };
}

/** Starts a server of scripts/servers; resolves when it listens. */
async function startServer(name, env) {
  const port = await freePort();
  const child = spawn(script(name), ["run", String(port)], { stdio: "ignore", env: { ...process.env, ...env } });
  const exited = once(child, "exit");
  while (!(await isListening(port))) {
    if (child.exitCode !== null) throw new Error(`${name} ended with exit code ${child.exitCode}`);
    await sleep(20);
  }
  const stop = async () => {
    child.kill("SIGTERM");
    await exited;
  };
  return { port, stop };
}

async function isListening(port) {
  const socket = connect(port, "127.0.0.1");
  const answer = await Promise.race([once(socket, "connect").then(() => true), once(socket, "error")]).catch(
    () => false,
  );
  socket.destroy();
  return answer === true;
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}
