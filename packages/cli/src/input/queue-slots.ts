import { CliError } from "../cli-error.js";
import { ExitCode } from "../exit-codes.js";

/** Queues that are served together, with so many runs at a time. */
export interface QueueSlots {
  readonly queues: readonly string[];
  readonly slots: number;
}

const name = /^(\*|[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,199})$/;
const mostSlots = 10_000;

/** Reads `a,b=5`: queues with a number have slots of their own, the others share `slots`. */
export function queueSlots(text: string, slots: number): QueueSlots[] {
  const shared: string[] = [];
  const own: QueueSlots[] = [];
  for (const part of text.split(",").map((word) => word.trim())) {
    const [queue = "", count, ...more] = part.split("=");
    const size = count === undefined ? slots : /^\d{1,5}$/.test(count) ? Number(count) : 0;
    if (!name.test(queue) || more.length > 0 || size < 1 || size > mostSlots)
      throw refusal(`${JSON.stringify(part)} is neither a queue nor queue=slots`);
    if (count === undefined) shared.push(queue);
    else own.push({ queues: [queue], slots: size });
  }
  const all = [...shared, ...own.flatMap((one) => one.queues)];
  if (new Set(all).size < all.length) throw refusal("a queue is named twice");
  if (all.includes("*") && all.length > 1) throw refusal("* stands for every queue: name no other beside it");
  return [...(shared.length > 0 ? [{ queues: shared, slots }] : []), ...own];
}

function refusal(reason: string): CliError {
  return new CliError(ExitCode.usage, `--queues: ${reason}; it looks like default,mail=5`);
}
