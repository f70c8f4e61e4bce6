// Waiting for herds.
import { setTimeout as sleep } from "node:timers/promises";
import { runsInserted } from "./rows.mjs";
import { say } from "./results.mjs";

export const until = (instant) => sleep(Math.max(0, instant - Date.now()));

/** The second at which a herd that comes every `everySeconds` can first come after everything has been prepared. */
export function secondAfter(prepareMs) {
  return Math.ceil((Date.now() + prepareMs) / 1_000) % 60;
}

/** The next instant of the herd that is at least `marginMs` away. */
export function nextHerd({ second, everySeconds }, marginMs) {
  const period = everySeconds * 1_000;
  const phase = (second % everySeconds) * 1_000;
  return Math.ceil((Date.now() + marginMs - phase) / period) * period + phase;
}

/** Waits until this many runs more than before were inserted; gives up when nothing more comes. */
export async function untilInserted(reader, before, count, patienceMs = 20_000) {
  let last = -1;
  let lastChange = Date.now();
  for (;;) {
    const inserted = (await runsInserted(reader)) - before;
    if (inserted >= count) return;
    if (inserted !== last) [last, lastChange] = [inserted, Date.now()];
    if (Date.now() - lastChange > patienceMs) return say(`only ${inserted} of ${count} runs came`);
    await sleep(500);
  }
}
