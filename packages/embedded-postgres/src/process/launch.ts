import { spawn, type ChildProcess, type StdioOptions } from "node:child_process";
import { once } from "node:events";
import type { Account } from "../data-dir/account.js";
import { EmbeddedPostgresError } from "../errors.js";

export interface Launch {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly stdio: StdioOptions;
  /** The user of the process; undefined: the current one. */
  readonly account: Account | undefined;
}

/**
 * Starts a process in its own session, so that Ctrl-C in the terminal reaches this process and not the database. Rejects if the
 * system refuses the start; `error` events always have a listener.
 */
export async function launch({ file, args, env, cwd, stdio, account }: Launch): Promise<ChildProcess> {
  const identity = account ? { uid: account.uid, gid: account.gid } : {};
  try {
    const child = spawn(file, args, { env, cwd, stdio, detached: true, windowsHide: true, ...identity });
    child.on("error", () => undefined);
    await once(child, "spawn");
    return child;
  } catch (error) {
    const who = account ? ` as user ${account.name}` : "";
    const why = error instanceof Error ? error.message : String(error);
    throw new EmbeddedPostgresError("embedded_start_failed", `The system refused to run ${file}${who}: ${why}.`, {
      cause: error,
    });
  }
}

export interface Finished {
  readonly ok: boolean;
  readonly output: string;
  /** Such as "exit code 1". */
  readonly how: string;
}

/** Waits for a process with piped output to end. When the signal aborts, the whole process group is killed. */
export async function finish(child: ChildProcess, signal: AbortSignal | undefined): Promise<Finished> {
  let output = "";
  const collect = (chunk: Buffer) => {
    output = (output + chunk.toString("utf8")).slice(-8_000);
  };
  child.stdout?.on("data", collect);
  child.stderr?.on("data", collect);
  const kill = () => killGroup(child);
  signal?.addEventListener("abort", kill, { once: true });
  if (signal?.aborted) kill();
  try {
    await once(child, "close");
  } finally {
    signal?.removeEventListener("abort", kill);
  }
  signal?.throwIfAborted();
  const how = child.exitCode === null ? `signal ${child.signalCode}` : `exit code ${child.exitCode}`;
  return { ok: child.exitCode === 0, output: output.trim(), how };
}

export function killGroup({ pid }: { readonly pid?: number | undefined }): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === "win32" ? pid : -pid, "SIGKILL");
  } catch {
    // The process ended at this moment.
  }
}
