import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { CarillonProcess } from "../../process/carillon-process.js";
import { scratchDir } from "../../process/scratch.js";
import { call, createJob, startDev } from "../../process/server.js";
import { storedDataDir } from "../../process/stored-data-dir.js";

const plugin = fileURLToPath(new URL("../../../../../examples/plugin", import.meta.url));

const runOf = async (url: string, id: string): Promise<Record<string, unknown>> => {
  return (await call(`${url}/v1/jobs/${id}`)).body["run"] as Record<string, unknown>;
};
const ended = async (url: string, id: string, run: object): Promise<void> => {
  await expect.poll(() => runOf(url, id), { timeout: 30_000 }).toMatchObject(run);
};

it("jobs without code: a shell that a worker enables, an executor of others, a request that ends by a callback", async () => {
  const { process, url } = await startDev(await storedDataDir());
  const refused = await call(`${url}/v1/jobs`, { task: "http", payload: { uri: "http://x" } });
  expect(refused).toMatchObject({ status: 422, body: { code: "payload_invalid" } });

  const args = ["worker", "start", "--url", url, "--enable-shell", "--plugin", plugin, "--outbound-allow", "loopback"];
  const worker = new CarillonProcess(args, {
    cwd: await scratchDir(),
    env: { CARILLON_SECRET_GREETING: "hello there" },
  });
  await worker.line(/^carillon: serving shell, tcp-check on /);

  const command = ["node", "-e", "console.log(process.env.GREETING.length)"];
  const shell = await createJob(url, { task: "shell", payload: { command, secret_env: { GREETING: "greeting" } } });
  await ended(url, shell, { status: "succeeded", output: { exit_code: 0, stdout: "11\n" } });

  const { port } = new URL(url);
  const check = await createJob(url, { task: "tcp-check", payload: { host: "127.0.0.1", port: Number(port) } });
  await ended(url, check, { status: "succeeded", output: { host: "127.0.0.1", port: Number(port) } });

  let told: (request: IncomingMessage) => void = () => undefined;
  const asked = new Promise<IncomingMessage>((resolve) => (told = resolve));
  const service = createServer((request, response) => {
    told(request);
    response.writeHead(202).end();
  });
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  const address = `http://127.0.0.1:${(service.address() as AddressInfo).port}/`;
  const payload = { url: address, method: "POST", callback: { timeout: "10m" } };
  const later = await createJob(url, { task: "http", payload });
  const callback = String((await asked).headers["carillon-callback-url"]);
  expect(callback.startsWith(`${url}/v1/callbacks/`)).toBe(true);
  await ended(url, later, { status: "running", status_reason: "callback", worker_id: null });
  const done = await fetch(callback, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ output: { rows: 3 } }),
  });
  expect(done.status).toBe(204);
  await ended(url, later, { status: "succeeded", output: { rows: 3 } });
  expect((await fetch(callback, { method: "POST" })).status).toBe(409);

  service.close();
  expect(await worker.stop()).toEqual({ code: 0, signal: null });
  expect(await process.stop()).toEqual({ code: 0, signal: null });
});

it.each([
  [2, ["worker", "start"], /needs a module of tasks, --executors, --enable-shell or --plugin/],
  [2, ["worker", "start", "--executors", "ftp"], /"ftp" is none; there are http, email/],
  [2, ["worker", "start", "--executors", "shell"], /switched on by --enable-shell/],
  [2, ["worker", "start", "--plugin", "./none.js"], /\.\/none\.js cannot be loaded/],
  [78, ["worker", "start", "--executors", "http", "--outbound-allow", "10.0.0.0/99"], /10\.0\.0\.0\/99/],
])("with code %i: %j is refused with what would be right", async (code, args, reason) => {
  const refused = new CarillonProcess(args, { cwd: await scratchDir() });
  expect(await refused.ended).toEqual({ code, signal: null });
  expect(refused.stderr).toMatch(reason);
});
