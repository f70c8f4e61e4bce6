import { EmbeddedPostgresError } from "../errors.js";
import type { StopMode } from "../options.js";
import type { ServerProcess } from "./server-process.js";

/** What each signal means to a postmaster, and how long it gets before the next, harder one. */
const LADDER: readonly (readonly [NodeJS.Signals, number])[] = [
  ["SIGINT", 30_000], // fast: ends sessions, writes a checkpoint
  ["SIGQUIT", 10_000], // immediate: the next start recovers from the log, nothing committed is lost
  ["SIGKILL", 5_000], // a stopped or stuck process; its children end themselves
];

export async function stopServer(server: ServerProcess, mode: StopMode, signalled?: () => void | Promise<void>) {
  for (const [signal, limitMs] of mode === "fast" ? LADDER : LADDER.slice(1)) {
    server.signal(signal);
    await signalled?.();
    if (await server.exitWithin(limitMs)) return;
  }
  throw new EmbeddedPostgresError(
    "embedded_stop_failed",
    `PostgreSQL (pid ${server.pid}) did not end, not even by SIGKILL. It probably waits for a disk that does not answer.`,
  );
}
