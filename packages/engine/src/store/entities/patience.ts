import type { Instant } from "@carillon/core";

/** A page that was looked for so long is better short than late: what it found is shown, and the next page goes on from there. */
const patienceMs = 25;

/** Says, from now on, whether it got late. `now`: the database's clock. */
export function patience(now: () => Instant): () => boolean {
  const lateFrom = now() + patienceMs;
  return () => now() >= lateFrom;
}
