import { systemRandom } from "@carillon/core";
import { type Config, createLogger, runNode, workerLog } from "@carillon/server";
import { HttpTransport, type Task, Worker, type WorkerEvent, workerTimers } from "@carillon/worker";
import { type CliError, ExitCode, usageError } from "./exit-codes.js";
import type { Io } from "./io.js";

export interface WorkerProcess {
  readonly urls: readonly string[];
  /** Sent as a bearer token. */
  readonly token?: string;
  /** The worker's namespace; undefined for the server's default. */
  readonly namespace?: string;
  /** The namespaces whose runs it takes; only its own if left out. */
  readonly namespaces?: readonly string[];
  readonly tasks: readonly Task[];
  readonly name: string;
  readonly groups: readonly QueueSlots[];
  readonly labels: Readonly<Record<string, string>>;
  readonly isSpot: boolean;
  readonly config: Pick<Config, "logLevel" | "logFormat" | "shutdownGracePeriod">;
}

/** Beyond the grace time: reporting to the server, and closing. */
const closingMs = 10_000;
/** Providers of spot machines announce a stop at least half a minute ahead. */
const noticeMs = 20_000;
/** Sent by the operator's script that receives the notice of the provider. */
const noticeSignal = "SIGUSR2";

/** Runs a worker in this process until a signal ends it. */
export async function runWorkerProcess(io: Io, options: WorkerProcess): Promise<ExitCode> {
  const { config, tasks, name, urls, token, labels, isSpot, namespace, namespaces } = options;
  const logger = createLogger(config, { stream: io.stderr, isTerminal: io.stderrIsTerminal, colour: io.stderrColour });
  const timers = workerTimers;
  const log = workerLog(logger, { monotonic: () => timers.monotonic(), stacks: true });
  const asked = new AbortController();
  let isNotice = false;
  const onNotice = (): void => {
    isNotice = true;
    asked.abort();
  };
  if (isSpot) process.once(noticeSignal, onNotice);
  endWithParent(process, asked);
  const workers = options.groups.map(({ queues, slots }) => {
    const caller = { ...(token !== undefined && { token }), ...(namespace !== undefined && { namespace }) };
    const transport = new HttpTransport({ urls, timers, random: systemRandom, ...caller });
    const onEvent = (event: WorkerEvent): void => {
      log(event);
      if (event.type !== "worker.drain_requested") return;
      isNotice ||= event.isNotice;
      asked.abort();
    };
    const served = namespaces === undefined ? {} : { namespaces };
    return new Worker({ transport, tasks, name, queues, slots, labels, isSpot, timers, onEvent, ...served });
  });
  const node = {
    start: async () => void (await Promise.all(workers.map((worker) => worker.start()))),
    stop: async () => {
      const { shutdownGracePeriod } = config;
      const leaveMs = Math.min(noticeMs, shutdownGracePeriod);
      await Promise.all(workers.map((worker) => (isNotice ? worker.leave(leaveMs) : worker.stop(shutdownGracePeriod))));
    },
    abandon: () => undefined,
    facts: null,
  };
  const onReady = (): void => {
    const queues = options.groups.flatMap((group) => group.queues).join(", ");
    io.info(`carillon: serving ${tasks.map((task) => task.name).join(", ")} on ${queues} for ${urls.join(", ")}`);
  };
  const stopLimitMs = config.shutdownGracePeriod + closingMs;
  const code = await runNode({ node, logger, stopLimitMs, onReady, stopSignal: asked.signal, process });
  return code === 0 ? ExitCode.ok : ExitCode.failure;
}

/** The IPC channel to the parent process. */
interface Channelled {
  /** Undefined where there never was a channel, false where it is gone. */
  readonly connected?: boolean | undefined;
  readonly channel?: { unref(): void } | null | undefined;
  once(event: "disconnect", listener: () => void): unknown;
}

/**
 * A parent that started this process with a channel wants it only as long as it lives itself: old code must not go on serving. The parent
 * may be gone before this process has loaded its tasks.
 */
export function endWithParent(process: Channelled, stop: AbortController): void {
  if (process.connected === undefined) return;
  if (!process.connected) return stop.abort();
  process.once("disconnect", () => stop.abort());
  // The listener alone would keep the process alive.
  process.channel?.unref();
}

/** Queues that share a number of slots. */
export interface QueueSlots {
  readonly queues: readonly string[];
  readonly slots: number;
}

const name = /^(\*|[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,199})$/;
export const maxSlots = 10_000;

/** Reads `a,b=5`: queues with a number have slots of their own, the others share `slots`. */
export function queueSlots(text: string, slots: number): QueueSlots[] {
  const shared: string[] = [];
  const own: QueueSlots[] = [];
  for (const part of text.split(",").map((word) => word.trim())) {
    const [queue = "", count, ...more] = part.split("=");
    const size = count === undefined ? slots : /^\d{1,5}$/.test(count) ? Number(count) : 0;
    if (!name.test(queue) || more.length > 0 || size < 1 || size > maxSlots)
      throw refusal(`${JSON.stringify(part)} is neither a queue nor queue=slots.`);
    if (count === undefined) shared.push(queue);
    else own.push({ queues: [queue], slots: size });
  }
  const all = [...shared, ...own.flatMap((one) => one.queues)];
  if (new Set(all).size < all.length) throw refusal("A queue is named twice.");
  if (all.includes("*") && all.length > 1) throw refusal("* means every queue: name no other beside it.");
  return [...(shared.length > 0 ? [{ queues: shared, slots }] : []), ...own];
}

function refusal(reason: string): CliError {
  return usageError(`--queues: ${reason} A list looks like default,mail=5.`);
}
