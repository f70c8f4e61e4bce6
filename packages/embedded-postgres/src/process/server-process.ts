import { type ChildProcess, execFile } from "node:child_process";
import { EmbeddedPostgresError } from "../errors.js";
import type { StopMode } from "../options.js";
import type { Timer } from "../timer.js";
import { type ProcessEntry, readProcess } from "./process-table.js";

/** A postmaster: a child of this process, or an adopted orphan. */
export interface ServerProcess {
  readonly pid: number;
  /** Resolves when the process has ended. Does not keep this process alive, unless `exitWithin` is pending. */
  readonly exited: Promise<void>;
  /** Sends a signal; does nothing if the process has ended. */
  signal(name: NodeJS.Signals): void;
  exitWithin(ms: number): Promise<boolean>;
}

const ORPHAN_POLL_MS = 500;
const ORPHAN_STOP_POLL_MS = 20;

export function childServer(child: ChildProcess, pid: number, timer: Timer, pgCtl: string): ServerProcess {
  const exited = new Promise<void>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve();
    else child.once("exit", () => resolve());
  });
  const running = () => child.exitCode === null && child.signalCode === null;
  return {
    pid,
    exited,
    signal: (name) => {
      if (running()) sendSignal(pid, name, pgCtl);
    },
    async exitWithin(ms) {
      const enough = new AbortController();
      child.ref();
      const late = timer.delay(ms, { signal: enough.signal }).catch(() => undefined);
      await Promise.race([exited, late]);
      enough.abort();
      child.unref();
      return !running();
    },
  };
}

/** The system does not report the end of a process that is not a child, so it is polled: slowly, and quickly during a stop. */
export function orphanServer(entry: ProcessEntry, timer: Timer, pgCtl: string): ServerProcess {
  let gone = false;
  const poll = async () => {
    gone ||= (await readProcess(entry.pid))?.start !== entry.start;
    return gone;
  };
  const watch = async () => {
    while (!(await poll())) await timer.delay(ORPHAN_POLL_MS, { keepAlive: false });
  };
  return {
    pid: entry.pid,
    exited: watch(),
    signal: (name) => {
      if (!gone) sendSignal(entry.pid, name, pgCtl);
    },
    async exitWithin(ms) {
      const enough = new AbortController();
      const delay = timer.delay(ms, { signal: enough.signal });
      const late = delay.catch(() => undefined).then(() => true);
      let isLate = false;
      while (!(await poll()) && !isLate) {
        isLate = await Promise.race([late, timer.delay(ORPHAN_STOP_POLL_MS).then(() => false)]);
      }
      enough.abort();
      return gone;
    },
  };
}

function sendSignal(pid: number, name: NodeJS.Signals, pgCtl: string): void {
  // Windows has no signals: PostgreSQL listens on a pipe, to which pg_ctl writes.
  if (process.platform === "win32" && name !== "SIGKILL") {
    execFile(pgCtl, ["kill", name.slice(3), String(pid)], { windowsHide: true }, () => undefined);
    return;
  }
  try {
    process.kill(pid, name);
  } catch {
    // The process ended at this moment.
  }
}

/** Signals to a postmaster, with the time before the next, stronger one. */
const STOP_SIGNALS: readonly (readonly [NodeJS.Signals, number])[] = [
  ["SIGINT", 30_000], // fast: ends sessions, writes a checkpoint
  ["SIGQUIT", 10_000], // immediate: the next start recovers from the log, nothing committed is lost
  ["SIGKILL", 5_000], // for a stopped or stuck process; its children end themselves
];

export async function stopServer(server: ServerProcess, mode: StopMode, signalled?: () => void | Promise<void>) {
  for (const [signal, limitMs] of mode === "fast" ? STOP_SIGNALS : STOP_SIGNALS.slice(1)) {
    server.signal(signal);
    await signalled?.();
    if (await server.exitWithin(limitMs)) return;
  }
  throw new EmbeddedPostgresError(
    "embedded_stop_failed",
    `PostgreSQL (pid ${server.pid}) did not end, not even after SIGKILL. It probably waits for a disk that does not respond.`,
  );
}
