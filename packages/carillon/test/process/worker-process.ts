import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CarillonProcess } from "./carillon-process.js";
import { scratchDir } from "./scratch.js";

/**
 * `begin` prints its fence when it starts and ends after the time in its payload; `stay` ends only when it is assigned a second time, or
 * requested to stop; `save` stores a checkpoint and stays, and returns the checkpoint the next time; `stumble` fails, stays, and then ends;
 * `collect` returns the outputs of the runs that started it.
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
export const collect = {
  name: "collect",
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
  await process.line(/^carillon: serving begin, collect, save, stay, stumble on /);
  return process;
}
