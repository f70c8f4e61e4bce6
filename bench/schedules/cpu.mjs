// Processor time from /proc: unlike a duration it hardly changes with what else the machine has to do.
import { readFileSync } from "node:fs";

const ticksPerSecond = 100;

/** Seconds of processor time that a process has used so far. */
export function cpuSecondsOf(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const [user, system] = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .slice(11, 13);
  return (Number(user) + Number(system)) / ticksPerSecond;
}

/** The same for its children that live: PostgreSQL has a process for every connection. */
export function cpuSecondsOfChildren(pid) {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return children.split(" ").reduce((sum, child) => sum + secondsIfThere(child), 0);
}

function secondsIfThere(pid) {
  try {
    return cpuSecondsOf(pid);
  } catch {
    // It ended in between.
    return 0;
  }
}
