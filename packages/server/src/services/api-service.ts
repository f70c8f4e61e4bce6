import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readdir, readFile, readlink } from "node:fs/promises";
import { createServer } from "node:net";
import { CarillonError, systemClock } from "@carillon/core";
import { type Database, type NamespaceGuard, writeProbe } from "@carillon/engine";
import { activeTraceParent, AddressRules, beginSpan, closedAddress, enqueueTraced } from "@carillon/worker";
import { type Api, createApi } from "../api/app.js";
import type { QuotaLimits } from "../api/http/admission.js";
import type {
  ApiEngine,
  ApiMetrics,
  ApiOptions,
  EventsPort,
  HealthCheck,
  HealthPort,
  Mailbox,
} from "../api/http/handler.js";
import { withTimeout } from "../timeout.js";
import type { NodeContext, Service } from "./service.js";

/** Ports above the configured one that `dev` tries. */
const NEXT_PORTS = 20;

export interface ApiServiceOptions {
  readonly engine: ApiEngine;
  readonly workers: NamespaceGuard;
  /** False: the engine is being replaced after a failover of the database. */
  readonly isEngineReady: () => boolean;
  readonly database: () => Database;
  readonly metrics: () => ApiMetrics;
  readonly events: EventsPort & { stop(): void };
  readonly checkPayload: NonNullable<ApiOptions["checkPayload"]>;
  /** Null: this node stores no mails. */
  readonly mailbox: Mailbox | null;
  /** Identifies this process. */
  readonly instance: string;
  /** Set by `dev`, which takes the next port if the configured one is in use; a server fails then. */
  readonly folder: string | null;
}

/** Runs the HTTP API. */
export class ApiService implements Service {
  readonly name = "api";
  readonly #context: NodeContext;
  readonly #options: ApiServiceOptions;
  #app: Api | null = null;
  #url = "";

  constructor(context: NodeContext, options: ApiServiceOptions) {
    this.#context = context;
    this.#options = options;
  }

  /** The address of the API; empty until it listens. */
  get url(): string {
    return this.#url;
  }

  async start(): Promise<void> {
    if (this.#app !== null) return;
    const { config } = this.#context;
    const last = config.port + (this.#options.folder !== null && config.port !== 0 ? NEXT_PORTS : 0);
    for (let port = config.port; ; port++) {
      const app = this.#makeApp();
      try {
        this.#url = await app.listen({ host: config.host, port });
        this.#app = app;
        return;
      } catch (error) {
        await app.close();
        if (!isPortInUse(error)) throw error;
        await this.#reportInUse(port, last, error);
      }
    }
  }

  async stop(): Promise<void> {
    const app = this.#app;
    this.#app = null;
    if (app === null) return;
    // Waiting polls would delay the close: their workers reconnect to another node.
    if (this.#options.isEngineReady()) this.#options.workers.stop();
    this.#options.events.stop();
    await app.close();
  }

  #makeApp(): Api {
    const { config, logger, version } = this.#context;
    const { engine, workers, isEngineReady, database, metrics, events } = this.#options;
    const { checkPayload, mailbox, instance, folder } = this.#options;
    const rules = new AddressRules(config.outboundAllowlist ?? []);
    return createApi({
      engine,
      workers,
      health: readiness(database, isEngineReady),
      metrics: metrics(),
      events,
      checkPayload,
      refuseTarget: (url) => closedAddress(url, rules),
      version,
      instance,
      ...(folder !== null && { folder }),
      ...(mailbox !== null && { mailbox }),
      now: () => database().clock.now(),
      newRequestId: randomUUID,
      tracing: { beginSpan, activeTraceParent, enqueueTraced },
      admission: { calls: config.maxInflightRequests, bytes: config.maxInflightBytes },
      quotas: { limits: quotaLimits(config), monotonic: () => systemClock.monotonic() },
      logger: logger.child({ component: this.name }),
      dev: { loopbackOnly: true },
    });
  }

  async #reportInUse(port: number, last: number, error: unknown): Promise<void> {
    if (port === last) throw await portInUse(port, error);
    const owner = await describePortOwner(port);
    this.#context.logger.warn({ component: this.name }, `port ${port} is in use${owner}; trying ${port + 1}`);
  }
}

function quotaLimits({ quotaRead, quotaWrite, quotaBulk, quotaStream }: NodeContext["config"]): QuotaLimits {
  return { read: quotaRead, write: quotaWrite, bulk: quotaBulk, stream: quotaStream };
}

/** A probe that hangs is worse than one that fails. */
const CHECK_TIMEOUT_MS = 2_000;

/** Ready means that the database answers and accepts writes now, not some time ago. Concurrent probes share one check. */
export function readiness(database: () => Database, isEngineReady: () => boolean = () => true): HealthPort {
  let running: Promise<readonly HealthCheck[]> | null = null;
  const probes = new WeakMap<Database, () => Promise<boolean>>();
  const probeOf = (of: Database): (() => Promise<boolean>) => {
    const probe = probes.get(of) ?? writeProbe(of);
    probes.set(of, probe);
    return probe;
  };
  const check = (): Promise<readonly HealthCheck[]> => {
    const checks = [
      bounded("database", () => checkDatabase(database())),
      bounded("writes", () => checkWrites(probeOf(database()))),
      bounded("engine", async () => checkEngine(isEngineReady())),
    ];
    return Promise.all(checks).finally(() => {
      running = null;
    });
  };
  return { ready: () => (running ??= check()) };
}

function bounded(name: string, check: () => Promise<string>): Promise<HealthCheck> {
  const timedOut = (): HealthCheck => ({ name, ok: false, detail: `No answer within ${CHECK_TIMEOUT_MS} ms.` });
  return withTimeout(CHECK_TIMEOUT_MS, runCheck(name, check), timedOut);
}

async function runCheck(name: string, check: () => Promise<string>): Promise<HealthCheck> {
  try {
    return { name, ok: true, detail: await check() };
  } catch (error) {
    return { name, ok: false, detail: error instanceof Error ? error.message : String(error) };
  }
}

async function checkDatabase(database: Database): Promise<string> {
  const { roundTripMs } = await database.clock.tick();
  return `Answers in ${Math.ceil(roundTripMs)} ms.`;
}

function checkEngine(isReady: boolean): string {
  if (isReady) return "Works.";
  throw new Error("The database was failed over or restored, and this node is reading it again.");
}

async function checkWrites(canWrite: () => Promise<boolean>): Promise<string> {
  if (await canWrite()) return "Accepted.";
  throw new Error("Another session holds a lock on a table that calls write to.");
}

interface PortOwner {
  readonly pid: number;
  /** The command line; empty when this process may not read it. */
  readonly command: string;
}

const LISTEN = "0A";

/** Inodes of the sockets that listen on the port, from the text of /proc/net/tcp or tcp6. */
export function listeningInodes(table: string, port: number): string[] {
  const hexPort = port.toString(16).toUpperCase().padStart(4, "0");
  return table
    .split("\n")
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter((columns) => columns[1]?.endsWith(`:${hexPort}`) && columns[3] === LISTEN)
    .flatMap((columns) => columns[9] ?? []);
}

/** The process that listens on a local port, if the system shows it (Linux; own processes, or as root); null otherwise. */
async function findPortOwner(port: number): Promise<PortOwner | null> {
  const tables = await Promise.all(["tcp", "tcp6"].map((name) => textOf(`/proc/net/${name}`)));
  const wanted = new Set(tables.flatMap((table) => listeningInodes(table, port)).map((inode) => `socket:[${inode}]`));
  if (wanted.size === 0) return null;
  for (const name of await namesIn("/proc")) {
    if (/^\d+$/.test(name) && (await holdsOne(`/proc/${name}/fd`, wanted))) {
      return { pid: Number(name), command: (await textOf(`/proc/${name}/cmdline`)).replaceAll("\0", " ").trim() };
    }
  }
  return null;
}

async function holdsOne(folder: string, wanted: ReadonlySet<string>): Promise<boolean> {
  for (const descriptor of await namesIn(folder)) {
    const target = await readlink(`${folder}/${descriptor}`).catch(() => "");
    if (wanted.has(target)) return true;
  }
  return false;
}

const textOf = (path: string): Promise<string> => readFile(path, "utf8").catch(() => "");

const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);

/** For a message: " by node server.js (pid 42)", or nothing if the process is unknown. */
async function describePortOwner(port: number): Promise<string> {
  const owner = await findPortOwner(port);
  if (owner === null) return "";
  const command = owner.command.length > 60 ? `${owner.command.slice(0, 59)}…` : owner.command;
  return ` by ${command === "" ? "a process" : command} (pid ${owner.pid})`;
}

const isPortInUse = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "EADDRINUSE";

async function portInUse(port: number, cause: unknown): Promise<CarillonError> {
  const owner = await describePortOwner(port);
  const detail = `Port ${port} is in use${owner}: stop that process, or choose another port with --port or CARILLON_PORT.`;
  return new CarillonError("port_in_use", detail, { cause });
}

/** Checked before the start, so that a node that cannot listen does not join the cluster first. */
export async function assertPortFree(host: string, port: number): Promise<void> {
  const probe = createServer();
  try {
    await once(probe.listen({ host, port }), "listening");
  } catch (error) {
    throw isPortInUse(error) ? await portInUse(port, error) : error;
  }
  await new Promise((resolve) => probe.close(resolve));
}
