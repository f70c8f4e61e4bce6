import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import type { Instant } from "@carillon/core";
import type { EtcdStatus } from "@carillon/engine";

/** One line of `carillon doctor`. */
export interface Finding {
  readonly name: string;
  readonly status: "ok" | "warn" | "fail";
  readonly detail: string;
  /** The remedy; absent when the status is ok. */
  readonly remedy?: string;
}

export const ok = (name: string, detail: string): Finding => ({ name, status: "ok", detail });

export const warn = (name: string, detail: string, remedy: string): Finding => ({
  name,
  status: "warn",
  detail,
  remedy,
});

export const fail = (name: string, detail: string, remedy: string): Finding => ({
  name,
  status: "fail",
  detail,
  remedy,
});

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

/** The free space for the data; a folder that does not exist yet counts as its parent. */
export async function checkDisk(folder: string): Promise<Finding> {
  for (let path = folder; ; path = dirname(path)) {
    try {
      const { bavail, bsize } = await statfs(path);
      return judgeSpace(folder, bavail * bsize);
    } catch (error) {
      if (path !== dirname(path)) continue;
      const reason = error instanceof Error ? error.message : String(error);
      return warn(
        "disk",
        `the free space for ${folder} cannot be read (${reason})`,
        "check that the folder can be reached",
      );
    }
  }
}

const OLDEST_NODE: readonly [major: number, minor: number] = [20, 19];
/** The oldest line that still gets security fixes. */
const SUPPORTED_MAJOR = 22;

export function checkNodeVersion(version: string): Finding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1])) {
    return fail("node", version, `Node ${OLDEST_NODE.join(".")} or newer is needed; 24 is best`);
  }
  if (major < SUPPORTED_MAJOR) return warn("node", version, "this line gets no more security fixes; use Node 22 or 24");
  return ok("node", version);
}

/** Governments change time zones at a few months' notice; older rules are likely to be wrong in some zone. */
const STALE_YEARS = 2;

/** The version is a year and a letter, as in 2026b. */
export function checkZoneData(version: string | undefined, now: Instant): Finding {
  const year = /^\d{4}/.exec(version ?? "")?.[0];
  if (version === undefined || year === undefined) {
    return fail("zone data", "none", "this Node was built without time zones; use an official build");
  }
  if (new Date(now).getUTCFullYear() - Number(year) >= STALE_YEARS) {
    return warn("zone data", version, "later changes of time zones are unknown; use a newer release of Node");
  }
  return ok("zone data", version);
}

type Answer =
  | { readonly endpoint: string; readonly status: EtcdStatus }
  | { readonly endpoint: string; readonly reason: string };

/** One line for each endpoint. One that is down is a warning as long as another is usable. */
export async function checkEtcd(
  endpoints: readonly string[],
  readStatus: (endpoint: string) => Promise<EtcdStatus>,
): Promise<Finding[]> {
  const answers = await Promise.all(endpoints.map((endpoint) => answerOf(endpoint, readStatus)));
  const hasUsable = answers.some((answer) => "status" in answer && answer.status.hasLeader);
  const report = hasUsable ? warn : fail;
  const findings = answers.map((answer) => {
    if ("reason" in answer) {
      const remedy = "start that server, or correct etcd_endpoints (CARILLON_ETCD_ENDPOINTS)";
      return report("etcd", `${answer.endpoint} does not answer (${answer.reason})`, remedy);
    }
    const { version, hasLeader } = answer.status;
    if (hasLeader) return ok("etcd", `${answer.endpoint} answers, version ${version}`);
    return report("etcd", `${answer.endpoint} has no leader`, "start the other servers of its cluster");
  });
  return [...findings, ...checkSameCluster(answers)];
}

async function answerOf(endpoint: string, readStatus: (endpoint: string) => Promise<EtcdStatus>): Promise<Answer> {
  try {
    return { endpoint, status: await readStatus(endpoint) };
  } catch (error) {
    return { endpoint, reason: reasonOf(error) };
  }
}

/** The error of `fetch` has no reason; its cause has. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error && error.cause.message !== "" ? error.cause.message : error.message;
}

/** Nodes with different etcd clusters would not see each other. */
function checkSameCluster(answers: readonly Answer[]): Finding[] {
  const clusters = new Set(answers.flatMap((answer) => ("status" in answer ? [answer.status.clusterId] : [])));
  if (clusters.size <= 1) return [];
  return [fail("etcd", "the endpoints belong to different clusters", "name the servers of one cluster only")];
}
