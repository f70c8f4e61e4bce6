// With `node --import`: reports on stderr which optional libraries of executors the process loads.
import { writeSync } from "node:fs";
import { register } from "node:module";
import { isMainThread } from "node:worker_threads";

if (isMainThread) register(import.meta.url);

/** Called in the thread of the hooks, for every module. */
export async function load(url, context, next) {
  const [, name] = /node_modules\/(@aws-sdk\/client-lambda|@kubernetes\/client-node)\//.exec(url) ?? [];
  if (name !== undefined) writeSync(2, `loads ${name}\n`);
  return next(url, context);
}
