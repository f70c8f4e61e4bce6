import { execFile } from "node:child_process";
import { readdir, readFile, readlink } from "node:fs/promises";
import { promisify } from "node:util";

/** A live process. Pids are reused, so only pid and start together identify a process. */
export interface ProcessEntry {
  readonly pid: number;
  /** Differs between any two processes that ever had the same pid, reboots included. */
  readonly start: string;
  /** The arguments, joined by spaces. */
  readonly command: string;
  /** Undefined if the system does not provide it. */
  readonly cwd: string | undefined;
}

const run = promisify(execFile);

/** The process with this pid; undefined if there is none, or a zombie that was not reaped. */
export async function readProcess(pid: number): Promise<ProcessEntry | undefined> {
  if (process.platform === "linux") return readLinuxProcess(String(pid));
  if (process.platform === "win32")
    return isPidTaken(pid) ? { pid, start: "0", command: "", cwd: undefined } : undefined;
  return (await readByPs(["-p", String(pid)]))[0];
}

/** Every live process that this user can see. Always empty on Windows. */
export async function listProcesses(): Promise<readonly ProcessEntry[]> {
  if (process.platform === "win32") return [];
  if (process.platform !== "linux") return readByPs(["-ax"]);
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const entries = await Promise.all(pids.map(readLinuxProcess));
  return entries.filter((entry) => entry !== undefined);
}

/** Whether a process, possibly a zombie, has the pid. PostgreSQL applies the same test. */
export function isPidTaken(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

async function readLinuxProcess(pid: string): Promise<ProcessEntry | undefined> {
  try {
    const [stat, cmdline, boot, cwd] = await Promise.all([
      readFile(`/proc/${pid}/stat`, "utf8"),
      readFile(`/proc/${pid}/cmdline`, "utf8"),
      readFile("/proc/sys/kernel/random/boot_id", "utf8"),
      readlink(`/proc/${pid}/cwd`).catch(() => undefined),
    ]);
    // The second field is the program's name in parentheses and may itself hold spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [state, ticks] = [fields[0], fields[19]];
    if (state === "Z" || state === "X" || ticks === undefined) return undefined;
    const command = cmdline.replace(/\0$/, "").replaceAll("\0", " ");
    return { pid: Number(pid), start: `${boot.slice(0, 8)}-${ticks}`, command, cwd };
  } catch {
    return undefined;
  }
}

/** `ps` on macOS and the BSDs: pid, state, the start as five words, then the command. */
async function readByPs(selection: readonly string[]): Promise<readonly ProcessEntry[]> {
  const args = [...selection, "-ww", "-o", "pid=,state=,lstart=,command="];
  const ps = run("ps", args, { env: { PATH: process.env["PATH"], LC_ALL: "C", TZ: "UTC" } });
  const { stdout } = await ps.catch(() => ({ stdout: "" }));
  return stdout.split("\n").flatMap((line) => {
    const match = /^\s*(\d+)\s+(\S+)\s+(\S+\s+\S+\s+\S+\s+\S+\s+\S+)\s+(.*)$/.exec(line);
    const [, pid, state, lstart, command] = match ?? [];
    if (pid === undefined || lstart === undefined || command === undefined || state?.startsWith("Z")) return [];
    return [{ pid: Number(pid), start: lstart.replaceAll(/[^0-9A-Za-z]+/g, "-"), command, cwd: undefined }];
  });
}
