import { CarillonError } from "@carillon/core";
import type { Effect, Receipt } from "@carillon/engine";

/** One item of a batch, as it was read: a spec, or why there is none. */
export type ReadItem<Spec> = { readonly spec: Spec } | { readonly error: unknown };

/**
 * Keeps what a batch made by its items, those included that were not readable: read again later, others may be (what is in the past by
 * then, say), and what was made would be told of the wrong ones.
 */
export function receiptByItem(receipt: Receipt | undefined, read: readonly ReadItem<unknown>[]): Receipt | undefined {
  if (receipt === undefined) return undefined;
  const byItem = <Made>(made: readonly (Made | null)[]): (Made | null)[] => {
    const rest = made.values();
    return read.map((item) => ("spec" in item ? (rest.next().value ?? null) : null));
  };
  return {
    keep(tx, { runs, jobs, ...effect }: Effect) {
      const kept = {
        ...(runs === undefined ? {} : { runs: byItem(runs) }),
        ...(jobs === undefined ? {} : { jobs: byItem(jobs) }),
      };
      return receipt.keep(tx, { ...effect, ...kept });
    },
  };
}

/** What became of each item the first time. Why one was refused is known where it would be refused again. */
export function recalledItems<Made, Outcome>(
  read: readonly ReadItem<unknown>[],
  made: readonly (Made | null)[],
  outcomeOf: (made: Made) => Outcome,
): (Outcome | { readonly error: unknown })[] {
  return read.map((item, index) => {
    const one = made[index] ?? null;
    if (one !== null) return outcomeOf(one);
    return "error" in item ? item : { error: refusedBefore() };
  });
}

function refusedBefore(): CarillonError {
  return new CarillonError("bad_request", "It was refused when this call was made first.");
}
