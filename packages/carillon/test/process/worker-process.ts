import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CarillonProcess } from "./carillon-process.js";
import { scratchDir } from "./scratch.js";

/**
 * `begin` says that it has begun, under which fence, and ends after the time in its payload; `stay` ends only when it is given out a second
 * time, or asked to stop; `save` leaves a checkpoint and stays, and then returns the checkpoint; `stumble` fails, stays, and then ends;
 * `hear` answers with the outputs of the runs that started it.
 */
const tasks = `
import { setTimeout as sleep } from "node:timers/promises";
const say = (context, word) => console.log([word, context.task, context.fence, context.runId].join(" "));
export const begin = {
  name: "begin",
  run: async (payload, context) => {
    say(context, "begun");
    await sleep(payload?.ms ?? 0);
    say(context, "ended");
    return context.fence;
  },
};
export const stay = {
  name: "stay",
  run: (payload, context) => {
    say(context, "begun");
    if (context.fence > 1) return context.fence;
    return new Promise((resolve, reject) => context.signal.addEventListener("abort", () => reject(context.signal.reason)));
  },
};
export const stumble = {
  name: "stumble",
  run: (payload, context) => {
    say(context, "begun");
    if (context.fence === 1) throw new Error("down");
    if (context.fence > 2) return context.fence;
    return new Promise((resolve, reject) => context.signal.addEventListener("abort", () => reject(context.signal.reason)));
  },
};
export const hear = {
  name: "hear",
  run: async (payload, context) => (await context.upstream()).map(({ runId, output }) => ({ runId, output })),
};
export const save = {
  name: "save",
  run: async (payload, context) => {
    const left = await context.checkpoint.load();
    if (left !== undefined) return left;
    await context.checkpoint.save({ by: context.fence });
    say(context, "saved");
    return stay.run(payload, context);
  },
};
`;

/** Starts `carillon worker start` and waits until it is registered. */
export async function startWorker(urls: readonly string[], args: readonly string[] = []): Promise<CarillonProcess> {
  const dir = await scratchDir();
  await writeFile(join(dir, "tasks.mjs"), tasks);
  const process = new CarillonProcess(["worker", "start", "tasks.mjs", "--url", urls.join(","), ...args], { cwd: dir });
  await process.line(/^carillon: serving begin, hear, save, stay, stumble on /);
  return process;
}
