import { systemRandom } from "@carillon/core";
import { type Config, createLogger, runNode, workerLog } from "@carillon/server";
import { HttpTransport, type Task, Worker, type WorkerEvent, workerTimers } from "@carillon/worker";
import { ExitCode } from "../exit-codes.js";
import type { QueueSlots } from "../input/queue-slots.js";
import type { Io } from "../io.js";
import { endWithParent } from "./end-with-parent.js";

export interface WorkerProcess {
  readonly urls: readonly string[];
  /** Sent as a bearer token. */
  readonly token?: string;
  /** To which the worker belongs; undefined for the server's own. */
  readonly namespace?: string;
  /** Those whose runs it takes; left out: its own. */
  readonly namespaces?: readonly string[];
  readonly tasks: readonly Task[];
  readonly name: string;
  readonly groups: readonly QueueSlots[];
  readonly labels: Readonly<Record<string, string>>;
  readonly isSpot: boolean;
  readonly config: Pick<Config, "logLevel" | "logFormat" | "shutdownGrace">;
}

/** Beyond the grace time: telling the server, and closing. */
const closingMs = 10_000;
/** Who takes the machine gives at least half a minute. */
const noticeMs = 20_000;
/** Sent by whoever hears that the machine goes. */
const noticeSignal = "SIGUSR2";

/** Makes this process a worker until a signal ends it. */
export async function runWorkerProcess(io: Io, options: WorkerProcess): Promise<ExitCode> {
  const { config, tasks, name, urls, token, labels, isSpot, namespace, namespaces } = options;
  const logger = createLogger(config, { stream: io.stderr, isTerminal: io.talkIsTerminal, colour: io.talkColour });
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
      const { shutdownGrace } = config;
      const leaveMs = Math.min(noticeMs, shutdownGrace);
      await Promise.all(workers.map((worker) => (isNotice ? worker.leave(leaveMs) : worker.stop(shutdownGrace))));
    },
    abandon: () => undefined,
    facts: null,
  };
  const onReady = (): void => {
    const queues = options.groups.flatMap((group) => group.queues).join(", ");
    io.talk(`carillon: serving ${tasks.map((task) => task.name).join(", ")} on ${queues} for ${urls.join(", ")}`);
  };
  const stopLimitMs = config.shutdownGrace + closingMs;
  const code = await runNode({ node, logger, stopLimitMs, onReady, asked: asked.signal, process });
  return code === 0 ? ExitCode.ok : ExitCode.failure;
}
