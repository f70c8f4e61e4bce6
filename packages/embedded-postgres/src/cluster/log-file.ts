import { watch, type FSWatcher } from "node:fs";
import { copyFile, open, rename, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import type { DataDir } from "../data-dir/data-dir.js";

const LIMIT_BYTES = 8 * 1024 * 1024;
const SHOWN_LINES = 15;

export type LogFile = ReturnType<typeof openLogFile>;

/** The log of PostgreSQL, `postgres.log`. It has at most about 8 MB, and `postgres.log.1` as much of the part before. */
export function openLogFile(dataDir: DataDir) {
  const path = join(dataDir.path, "postgres.log");
  let recentFrom = 0;
  let watcher: FSWatcher | undefined;
  return {
    /** Opens the file for a server, which keeps it open after this process ends. The caller closes the handle after the spawn. */
    async openForServer() {
      if ((await sizeOf(path)) > LIMIT_BYTES) await rename(path, `${path}.1`);
      recentFrom = await sizeOf(path);
      const file = await open(path, "a", 0o600);
      await dataDir.own(path);
      return file;
    },
    /** The text since the last `openForServer`. */
    async readRecent() {
      const file = await open(path, "r");
      try {
        const { size } = await file.stat();
        const from = Math.max(recentFrom, size - 64 * 1024);
        const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.max(0, size - from)), 0, null, from);
        return buffer.toString("utf8", 0, bytesRead);
      } finally {
        await file.close();
      }
    },
    /** Keeps the file within its bound until `close`. */
    keepSmall() {
      watcher ??= watchSize(path);
    },
    close: () => watcher?.close(),
  };
}

export function lastLines(text: string): string {
  return text.trimEnd().split("\n").slice(-SHOWN_LINES).join("\n");
}

/**
 * The server never reopens the file, so it is emptied in place after its content is copied. If files cannot be watched, the
 * bound is enforced at each start only.
 */
function watchSize(path: string): FSWatcher | undefined {
  let busy = false;
  const shorten = async () => {
    if ((await sizeOf(path)) <= LIMIT_BYTES) return;
    await copyFile(path, `${path}.1`);
    await truncate(path);
  };
  try {
    const watcher = watch(path, { persistent: false }, () => {
      if (busy) return;
      busy = true;
      // A failure to shorten the log must not disturb the server.
      shorten()
        .catch(() => undefined)
        .finally(() => (busy = false));
    });
    return watcher.on("error", () => watcher.close());
  } catch {
    return undefined;
  }
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => null))?.size ?? 0;
}
