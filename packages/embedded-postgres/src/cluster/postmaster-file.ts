import { join } from "node:path";
import { readIfThere } from "../data-dir/data-dir.js";

type PostmasterStatus = "starting" | "ready" | "stopping" | "standby" | "unknown";

/** What a running postmaster says of itself in `postmaster.pid`. */
export interface PostmasterFile {
  readonly pid: number;
  readonly port: number;
  readonly status: PostmasterStatus;
}

const KNOWN: readonly string[] = ["starting", "ready", "stopping", "standby"] satisfies PostmasterStatus[];
const isStatus = (word: string): word is PostmasterStatus => KNOWN.includes(word);

/** Undefined when there is no file; "garbled" when it has no pid (empty while being written, or after a crash just then). */
export async function readPostmasterFile(cluster: string): Promise<PostmasterFile | "garbled" | undefined> {
  const text = await readIfThere(join(cluster, "postmaster.pid"));
  return text === undefined ? undefined : parsePostmasterFile(text);
}

/** Lines: 1 pid, 2 directory, 3 start, 4 port, 5 socket directory, 6 address, 7 shared memory, 8 status. */
export function parsePostmasterFile(text: string): PostmasterFile | "garbled" {
  const lines = text.split("\n").map((line) => line.trim());
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0) return "garbled";
  const status = lines[7] ?? "";
  return { pid, port: Number(lines[3]) || 0, status: isStatus(status) ? status : "unknown" };
}
