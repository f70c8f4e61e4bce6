import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { type Finding, fail, ok, warn } from "./checks.js";

const MB = 1024 * 1024;
const FAIL_MB = 100;
const WARN_MB = 1_024;

export function judgeSpace(folder: string, freeBytes: number): Finding {
  const freeMb = Math.floor(freeBytes / MB);
  const detail = `${freeMb} MB free for ${folder}`;
  const remedy = "free some space, or move the data with --data-dir";
  if (freeMb < FAIL_MB) return fail("disk", detail, remedy);
  return freeMb < WARN_MB ? warn("disk", detail, remedy) : ok("disk", detail);
}

/** The space where the data is, or would be: a folder that is not there yet counts as its parent. */
export async function checkDisk(folder: string): Promise<Finding> {
  for (let path = folder; ; path = dirname(path)) {
    try {
      const { bavail, bsize } = await statfs(path);
      return judgeSpace(folder, bavail * bsize);
    } catch (error) {
      if (path !== dirname(path)) continue;
      const reason = error instanceof Error ? error.message : String(error);
      return warn("disk", `the space for ${folder} cannot be read (${reason})`, "check that the folder can be reached");
    }
  }
}
