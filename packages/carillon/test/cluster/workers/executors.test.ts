import { readFileSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { CarillonProcess } from "../../process/carillon-process.js";
import { MailBox } from "../../process/mail-box.js";
import { scratchDir } from "../../process/scratch.js";
import { call, createJob, startDev } from "../../process/server.js";
import { storedDataDir } from "../../process/stored-data-dir.js";

const examples = fileURLToPath(new URL("../../../../../examples", import.meta.url));
const plugin = join(examples, "plugin");
const reportsLoads = new URL("../../process/print-loaded-executors.mjs", import.meta.url).href;
const libraries = fileURLToPath(new URL("../../../../../tools/node_modules/@aws-sdk", import.meta.url));

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

  const args = [
    "worker",
    "start",
    "--url",
    url,
    "--enable-shell",
    "--plugin",
    plugin,
    "--outbound-allowlist",
    "loopback",
  ];
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

  let onRequest: (request: IncomingMessage) => void = () => undefined;
  const asked = new Promise<IncomingMessage>((resolve) => (onRequest = resolve));
  const service = createServer((request, response) => {
    onRequest(request);
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

/** Writes its input to the file of its argument, as pg_dump would. */
const dump = `#!/bin/sh
for argument in "$@"; do
  case "$argument" in --file=*) echo "$PGUSER by $PGPASSWORD" > "\${argument#--file=}" ;; esac
done
`;

/** Creates the job of an example, with its paths below the folder, and runs it now; returns the id of the run. */
async function runExample(url: string, name: string, folder: string): Promise<string> {
  const text = readFileSync(join(examples, name, "job.json"), "utf8").replaceAll("/var/backups", folder);
  const { key } = JSON.parse(text) as { key: string };
  const headers = { "content-type": "application/json" };
  const made = await fetch(`${url}/v1/jobs/@${key}`, { method: "PUT", headers, body: text });
  expect(made.status).toBe(201);
  const { status, body } = await call(`${url}/v1/jobs/@${key}:runNow`, {});
  expect(status).toBe(201);
  return String(body["id"]);
}

it("the examples of a backup and a digest run; a library of an executor is loaded by its first run", async () => {
  const mail = await MailBox.open();
  const mailServer = { CARILLON_SMTP_URL: mail.url, CARILLON_SMTP_FROM: "Digest <digest@example.com>" };
  // Without a mail server the worker of dev would catch the mail.
  const { process, url } = await startDev(await storedDataDir(), [], { env: mailServer });
  const folder = await scratchDir();
  await mkdir(join(folder, "bin"));
  await mkdir(join(folder, "node_modules"));
  await symlink(libraries, join(folder, "node_modules/@aws-sdk"));
  await writeFile(join(folder, "bin/pg_dump"), dump, { mode: 0o755 });
  const lambda = createServer((_request, response) => response.end('{"rows":3}'));
  await new Promise<void>((resolve) => lambda.listen(0, "127.0.0.1", resolve));
  const worker = new CarillonProcess(
    ["worker", "start", "--url", url, "--enable-shell", "--queues", "default,backup,mail", "--executors"].concat(
      "email,docker,kubernetes,lambda,airflow",
    ),
    {
      cwd: folder,
      env: {
        PATH: `${join(folder, "bin")}:${globalThis.process.env["PATH"] ?? ""}`,
        NODE_OPTIONS: `--import ${reportsLoads}`,
        CARILLON_SECRET_BACKUP_PASSWORD: "hunter2",
        ...mailServer,
        AWS_ENDPOINT_URL_LAMBDA: `http://127.0.0.1:${(lambda.address() as AddressInfo).port}`,
        AWS_REGION: "eu-west-1",
        AWS_ACCESS_KEY_ID: "id",
        AWS_SECRET_ACCESS_KEY: "key",
      },
    },
  );
  await worker.line(/^carillon: serving email, docker, kubernetes, lambda, airflow, shell on /);

  const isOver = (id: string) => async () => (await call(`${url}/v1/runs/${id}`)).body["status"];
  const backup = await runExample(url, "nightly-backup", folder);
  await expect.poll(isOver(backup), { timeout: 30_000 }).toBe("succeeded");
  expect(readFileSync(join(folder, "shop.dump"), "utf8")).toBe("backup by hunter2\n");

  const digest = await runExample(url, "digest-email", folder);
  const { to, text } = await mail.first();
  expect([to, text]).toEqual([["team@example.com"], expect.stringContaining("Subject: Platform: your week")]);
  const [, runId = ""] = /\(run (run_\w{26}), planned for /.exec(text) ?? [];
  expect(runId).toBe(digest);
  await expect.poll(isOver(digest), { timeout: 30_000 }).toBe("succeeded");

  expect(worker.count(/^loads /)).toBe(0);
  const called = await createJob(url, { task: "lambda", payload: { function: "report" } });
  await ended(url, called, { status: "succeeded", output: { answer: { rows: 3 } } });
  expect([worker.count(/^loads @aws-sdk\/client-lambda$/), worker.count(/^loads /)]).toEqual([1, 1]);

  lambda.close();
  await mail.close();
  expect(await worker.stop()).toEqual({ code: 0, signal: null });
  expect(await process.stop()).toEqual({ code: 0, signal: null });
});

it.each([
  [2, ["worker", "start"], /needs a module of tasks, --executors, --enable-shell or --plugin/],
  [2, ["worker", "start", "--executors", "ftp"], /"ftp" is no executor\. There are http, email/],
  [2, ["worker", "start", "--executors", "shell"], /The flag --enable-shell enables shell/],
  [2, ["worker", "start", "--plugin", "./none.js"], /\.\/none\.js cannot be loaded/],
  [78, ["worker", "start", "--executors", "lambda"], /npm install @aws-sdk\/client-lambda/],
  [78, ["worker", "start", "--executors", "http", "--outbound-allowlist", "10.0.0.0/99"], /10\.0\.0\.0\/99/],
])("exit code %i: worker start %j is refused with a hint", async (code, args, reason) => {
  const refused = new CarillonProcess(args, { cwd: await scratchDir() });
  expect(await refused.ended).toEqual({ code, signal: null });
  expect(refused.stderr).toMatch(reason);
});
