import { chmod, mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach } from "vitest";
import { killStarted } from "./carillon-process.js";

const scratches: string[] = [];

/** A folder that every user can pass through, removed after the test, when no process may work in it any more. */
export async function scratchDir(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "carillon-test-"));
  await chmod(path, 0o711);
  scratches.push(path);
  return path;
}

interface Seen {
  readonly pid: number;
  readonly command: string;
}

/** Every process that names this path in its arguments. */
export async function processesAt(path: string): Promise<readonly Seen[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const all = await Promise.all(
    pids.map(async (pid) => ({
      pid: Number(pid),
      command: (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).replaceAll("\0", " "),
    })),
  );
  return all.filter(({ command }) => command.includes(path));
}

afterEach(async () => {
  await killStarted();
  const left: string[] = [];
  for (const path of scratches.splice(0)) {
    for (const { pid, command } of await processesAt(path)) {
      left.push(`${pid} ${command}`);
      process.kill(pid, "SIGKILL");
    }
    await rm(path, { recursive: true, force: true, maxRetries: 5 });
  }
  if (left.length > 0) throw new Error(`processes left after the test:\n${left.join("\n")}`);
});
