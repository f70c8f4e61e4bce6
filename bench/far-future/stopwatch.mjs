// What a piece of work takes: on the clock, and of the server's processor. The second is the same on a busy machine, so that
// two ways of doing a thing can be compared on it. It is read from Linux; elsewhere the clock stands for it.
import { readFileSync } from "node:fs";

/** Milliseconds that `work` takes on this connection. */
export async function take(client, work) {
  const { rows } = await client.query("select pg_backend_pid() as pid");
  const cpuNow = () => cpuMs(rows[0].pid) ?? performance.now();
  const [begin, cpuBegin] = [performance.now(), cpuNow()];
  await work();
  return { ms: performance.now() - begin, cpuMs: cpuNow() - cpuBegin };
}

function cpuMs(pid) {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
  } catch {
    return null;
  }
}
