import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer, type AddressInfo, type Server } from "node:net";
import { fileURLToPath } from "node:url";

const script = fileURLToPath(new URL("../../../../scripts/servers/etcd.sh", import.meta.url));

export const etcdIsInstalled = spawnSync("sh", ["-c", "command -v etcd"]).status === 0;

export interface EtcdServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts a new server on loopback; it accepts requests when the promise resolves. */
export async function startEtcd(): Promise<EtcdServer> {
  const port = await freePortPair();
  const child = spawn(script, ["run", String(port)], { stdio: "ignore" });
  const exited = once(child, "exit");
  const url = `http://127.0.0.1:${port}`;
  const isUp = (): Promise<boolean> =>
    fetch(`${url}/health`).then(
      (answer) => answer.ok,
      () => false,
    );
  while (!(await isUp())) {
    if (child.exitCode !== null) throw new Error(`The etcd server ended with exit code ${child.exitCode}.`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return {
    url,
    async stop() {
      child.kill("SIGTERM");
      await exited;
    },
  };
}

/** A free port whose successor is free too. */
async function freePortPair(): Promise<number> {
  for (;;) {
    const first = await listenOn(0);
    const { port } = first.address() as AddressInfo;
    const second = await listenOn(port + 1).catch(() => null);
    for (const server of [first, second]) {
      server?.close();
      if (server !== null) await once(server, "close");
    }
    if (second !== null) return port;
  }
}

async function listenOn(port: number): Promise<Server> {
  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  return server;
}
