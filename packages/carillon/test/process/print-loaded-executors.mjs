// With `node --import`: says on stderr which executors of other systems the process reads.
import { writeSync } from "node:fs";
import { register } from "node:module";
import { isMainThread } from "node:worker_threads";

if (isMainThread) register(import.meta.url);

/** Called in the thread of the hooks, for every module. */
export async function load(url, context, next) {
  const [, name] = /executor-(docker|kubernetes|lambda|airflow)\/dist\/index\.js$/.exec(url) ?? [];
  if (name !== undefined) writeSync(2, `reads ${name}\n`);
  return next(url, context);
}
