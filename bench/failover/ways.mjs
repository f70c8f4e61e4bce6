// The ways in which a node is lost, and what stands between the nodes and PostgreSQL meanwhile.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const script = (name) => fileURLToPath(new URL(`../../scripts/servers/${name}.sh`, import.meta.url));
const isThere = (program) => spawnSync("sh", ["-c", `PATH="$PATH:/usr/sbin" command -v ${program}`]).status === 0;
const always = () => true;
const kill = (node) => node.end("SIGKILL");
const nothing = async (url) => ({ url, settings: {}, stop: async () => {} });

/** `lose` ends when the node is lost; `between` answers how the nodes reach the database, and with which settings. */
export const ways = {
  killed: { name: "killed, direct connection", full: 10, isInstalled: always, lose: kill, between: nothing },
  frozen: {
    name: "frozen",
    full: 5,
    isInstalled: always,
    lose: async (node) => node.freeze(),
    between: nothing,
  },
  pooler: {
    name: "killed, behind a pooler (no advisory locks)",
    full: 5,
    isInstalled: () => isThere("pgbouncer"),
    lose: kill,
    between: behindPooler,
  },
  etcd: {
    name: "killed, etcd coordinates",
    full: 5,
    isInstalled: () => isThere("etcd"),
    lose: kill,
    between: besideEtcd,
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
  const pooler = await run("pgbouncer", env);
  const through = new URL(url);
  through.port = String(pooler.port);
  return { url: through.href, settings: {}, stop: pooler.stop };
}

async function besideEtcd(url) {
  const etcd = await run("etcd", {});
  const settings = { coordinator: "etcd", "etcd-endpoints": `http://127.0.0.1:${etcd.port}` };
  return { url, settings, stop: etcd.stop };
}

/** A server of scripts/servers, which listens when this resolves. */
async function run(name, env) {
  const port = await freePort();
  const child = spawn(script(name), ["run", String(port)], { stdio: "ignore", env: { ...process.env, ...env } });
  const gone = once(child, "exit");
  while (!(await listens(port))) {
    if (child.exitCode !== null) throw new Error(`${name} ended with exit code ${child.exitCode}`);
    await sleep(20);
  }
  const stop = async () => {
    child.kill("SIGTERM");
    await gone;
  };
  return { port, stop };
}

async function listens(port) {
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
