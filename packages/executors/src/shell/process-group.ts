import { type ChildProcess, spawn } from "node:child_process";
import type { DurationMs } from "@carillon/core";
import type { WorkerTimers } from "@carillon/worker";

export interface CommandOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string | undefined;
  readonly graceMs: DurationMs;
  readonly signal: AbortSignal;
  readonly timers: Pick<WorkerTimers, "setTimeout" | "clearTimeout">;
  readonly onStdout: (chunk: Buffer) => void;
  readonly onStderr: (chunk: Buffer) => void;
}

export interface CommandEnd {
  /** Null: a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/**
 * Runs a command in a process group of its own. When the signal fires the group is asked to end, and ended after the grace
 * time. When the command has ended, whatever it left behind in its group is ended too. Rejects if it cannot be started.
 */
export function runCommand(options: CommandOptions): Promise<CommandEnd> {
  const { command, args, cwd, env, stdin, signal, timers, graceMs } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env,
      detached: true,
      shell: false,
      stdio: [stdin === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    });
    let timer: unknown = null;
    const stop = (): void => {
      endGroup(child, "SIGTERM");
      timer = timers.setTimeout(() => endGroup(child, "SIGKILL"), graceMs);
    };
    const over = (): void => {
      timers.clearTimeout(timer);
      signal.removeEventListener("abort", stop);
    };
    child.once("error", (error) => {
      over();
      reject(error);
    });
    child.stdout?.on("data", options.onStdout);
    child.stderr?.on("data", options.onStderr);
    // One that does not read what it is given is no failure.
    child.stdin?.on("error", () => undefined).end(stdin);
    child.once("exit", () => endGroup(child, "SIGKILL"));
    child.once("close", (code, killedBy) => {
      over();
      resolve({ code, signal: killedBy });
    });
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}

function endGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // Nobody is left in it.
  }
}
