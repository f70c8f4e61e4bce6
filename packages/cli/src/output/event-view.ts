import type { Event } from "@carillon/contract";
import { plainText } from "../table.js";

/** One line for people: when, what, of which run, job, queue, task, worker or node, and its numbers. */
export function renderEvent(event: Event): string {
  const { type, at, run_id: run, job_id: job, task, queue, worker_id: worker, node_id: node, ...rest } = event;
  const subject = run ?? job ?? queue ?? task ?? worker ?? node ?? "";
  const details = Object.entries(rest).flatMap(([name, value]) => (value === null ? [] : [`${name}=${String(value)}`]));
  const words = [
    at,
    type.padEnd(13),
    subject,
    ...(task === undefined || queue === undefined ? [] : [`${task} in ${queue}`]),
    ...details,
  ];
  return `${words.map(plainText).join("  ").trimEnd()}\n`;
}
