import type { ChildProcess } from "node:child_process";
import { execFile } from "node:child_process";
import type { Timer } from "../timer.js";
import { readProcess, type ProcessEntry } from "./process-table.js";

/** A postmaster, our child or an orphan that we adopted. */
export interface ServerProcess {
  readonly pid: number;
  /** Resolves when the process has ended. Does not hold our own process open unless someone waits in `exitWithin`. */
  readonly exited: Promise<void>;
  /** Sends a signal; nothing happens when the process is gone. */
  signal(name: NodeJS.Signals): void;
  exitWithin(ms: number): Promise<boolean>;
}

const ORPHAN_LOOK_MS = 500;
const ORPHAN_STOP_LOOK_MS = 20;

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

/** Nothing tells us when a process that is not our child ends, so we look: now and then, and closely during a stop. */
export function orphanServer(entry: ProcessEntry, timer: Timer, pgCtl: string): ServerProcess {
  let gone = false;
  const look = async () => {
    gone ||= (await readProcess(entry.pid))?.start !== entry.start;
    return gone;
  };
  const watch = async () => {
    while (!(await look())) await timer.delay(ORPHAN_LOOK_MS, { keepAlive: false });
  };
  return {
    pid: entry.pid,
    exited: watch(),
    signal: (name) => {
      if (!gone) sendSignal(entry.pid, name, pgCtl);
    },
    async exitWithin(ms) {
      const enough = new AbortController();
      const late = timer.delay(ms, { signal: enough.signal }).then(
        () => true,
        () => true,
      );
      let isLate = false;
      while (!(await look()) && !isLate) {
        isLate = await Promise.race([late, timer.delay(ORPHAN_STOP_LOOK_MS).then(() => false)]);
      }
      enough.abort();
      return gone;
    },
  };
}

function sendSignal(pid: number, name: NodeJS.Signals, pgCtl: string): void {
  // Windows has no signals: PostgreSQL listens on a pipe of its own, which pg_ctl knows how to write to.
  if (process.platform === "win32" && name !== "SIGKILL") {
    execFile(pgCtl, ["kill", name.slice(3), String(pid)], { windowsHide: true }, () => undefined);
    return;
  }
  try {
    process.kill(pid, name);
  } catch {
    // It ended in this moment.
  }
}
