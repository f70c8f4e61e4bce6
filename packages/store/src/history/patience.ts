import type { Instant } from "@carillon/core";

/** A page that was looked for so long is better short than late: what it found is shown, and the next page goes on from there. */
const patienceMs = 25;
/** What it takes to look at a day that has next to nothing for the page. */
const dayTakesMs = 0.15;

/**
 * Says, after each step, whether it gets late: whether another step that takes as long as the last would end beyond the patience. `now`: the
 * database's clock. `daysToCome`: so many days have to be looked at in any case, and time is kept for them.
 */
export function patience(now: () => Instant): (daysToCome?: number) => boolean {
  let stepFrom = now();
  const lateFrom = stepFrom + patienceMs;
  return (daysToCome = 0) => {
    const at = now();
    const endOfNext = at + (at - stepFrom);
    stepFrom = at;
    return endOfNext >= lateFrom - daysToCome * dayTakesMs;
  };
}
