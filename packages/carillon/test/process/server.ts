import { CarillonProcess, type StartOptions } from "./carillon-process.js";

/** A node that serves, with its address. */
export interface Serving {
  readonly process: CarillonProcess;
  readonly url: string;
}

/** Starts `carillon dev` on a data folder and waits until it is ready. */
export async function startDev(
  dataDir: string,
  args: readonly string[] = [],
  options: StartOptions = {},
): Promise<Serving> {
  const process = new CarillonProcess(
    ["dev", "--data-dir", dataDir, "--port", "0", "--log-level", "debug", ...args],
    options,
  );
  const [, url = ""] = await process.line(/^ {2}URL +(\S+)$/);
  return { process, url };
}

/** Starts `carillon server start` over a database and waits until it is ready. */
export async function startServer(databaseUrl: string, args: readonly string[] = []): Promise<Serving> {
  const process = new CarillonProcess([
    "server",
    "start",
    "--database-url",
    databaseUrl,
    "--port",
    "0",
    "--log-level",
    "debug",
    ...args,
  ]);
  const [, url = ""] = await process.line(/^carillon: listening on (\S+)$/);
  return { process, url };
}

export interface Answer {
  readonly status: number;
  readonly body: { readonly [name: string]: unknown };
}

export async function call(url: string, body?: object): Promise<Answer> {
  const response = await fetch(url, {
    ...(body && { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000),
  });
  return { status: response.status, body: (await response.json()) as Answer["body"] };
}

/** Creates a job that runs once, at once; answers its id. */
export async function createJob(url: string, job: object): Promise<string> {
  const { status, body } = await call(`${url}/v1/jobs`, job);
  if (status !== 201) throw new Error(`the job was not accepted: ${status} ${JSON.stringify(body)}`);
  return String(body["id"]);
}

/** Status of a job that runs once. */
export async function jobStatus(url: string, id: string): Promise<unknown> {
  const { body } = await call(`${url}/v1/jobs/${id}`);
  return body["status"];
}
