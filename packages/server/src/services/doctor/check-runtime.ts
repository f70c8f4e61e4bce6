import type { Instant } from "@carillon/core";
import { type Finding, fail, ok, warn } from "./checks.js";

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

/** Governments change clocks at a few months' notice; rules older than this are likely to be wrong somewhere. */
const STALE_YEARS = 2;

/** The version is a year and a letter, as in 2026b. */
export function checkZoneData(version: string | undefined, now: Instant): Finding {
  const year = /^\d{4}/.exec(version ?? "")?.[0];
  if (version === undefined || year === undefined) {
    return fail("zone data", "none", "this Node was built without time zones; use an official build");
  }
  if (new Date(now).getUTCFullYear() - Number(year) >= STALE_YEARS) {
    return warn("zone data", version, "clock changes decided since are unknown; use a newer release of Node");
  }
  return ok("zone data", version);
}
