import { CarillonError } from "@carillon/core";
import type { Effect, Receipt } from "@carillon/engine";
import { hasUnknownOutcome, toProblem } from "./http/errors.js";
import { type ApiOptions, type Call, noTracing, type Traceable, traceOf } from "./http/handler.js";

/** One item of a batch after reading: its spec, or the error of an item that is not valid. */
export type ReadItem<Spec> = { readonly spec: Spec } | { readonly error: unknown };

interface Failed {
  readonly error: unknown;
}

type BatchCall = Pick<Call<never>, "requestId" | "receipt" | "trace">;
type Store<Spec, Stored> = (specs: readonly Spec[], receipt: Receipt | undefined) => Promise<readonly Stored[]>;

export function readItem<Spec>(read: () => Spec): ReadItem<Spec> {
  try {
    return { spec: read() };
  } catch (error) {
    return { error };
  }
}

/** The valid items. */
export function specsOf<Spec>(items: readonly ReadItem<Spec>[]): Spec[] {
  return items.flatMap((one) => ("spec" in one ? [one.spec] : []));
}

/** Stores the valid items, and gives one outcome for each item, in their order. */
export async function storeBatch<Spec extends Traceable, Stored extends object>(
  { logger, tracing = noTracing }: ApiOptions,
  call: BatchCall,
  items: readonly ReadItem<Spec>[],
  store: Store<Spec, Stored>,
): Promise<(Stored | Failed)[]> {
  const { requestId, receipt } = call;
  const specs = specsOf(items);
  const storeTraced = (traced: readonly Spec[]) => store(traced, receiptByItem(receipt, items));
  const stored = specs.length === 0 ? [] : await tracing.enqueueTraced(traceOf(call), specs, storeTraced);
  const faults = stored.filter(
    (one): one is Stored & Failed => hasFailed(one) && toProblem(one.error, requestId).isServerFault,
  );
  const fault = faults.find(({ error }) => hasUnknownOutcome(error)) ?? faults[0];
  // When nothing was stored because of the server, the call as a whole has failed.
  if (fault !== undefined) {
    if (stored.every(hasFailed)) throw fault.error;
    logger?.error({ err: fault.error, requestId }, "part of a batch failed");
  }
  const outcomes = stored.values();
  const missing: Failed = { error: new Error("The engine returned no outcome for an item of a batch.") };
  return items.map((one) => ("error" in one ? one : (outcomes.next().value ?? missing)));
}

function hasFailed<Stored extends object>(outcome: Stored): outcome is Stored & Failed {
  return "error" in outcome;
}

/**
 * Stores the effect of a batch by item, including the items that were not valid: a later replay reads the batch again, other
 * items may then be invalid (their time has passed, say), and the effects would belong to the wrong items.
 */
export function receiptByItem(receipt: Receipt | undefined, items: readonly ReadItem<unknown>[]): Receipt | undefined {
  if (receipt === undefined) return undefined;
  const byItem = <Made>(made: readonly (Made | null)[]): (Made | null)[] => {
    const rest = made.values();
    return items.map((item) => ("spec" in item ? (rest.next().value ?? null) : null));
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

/** The outcome of each item of the first call. The reason of a refusal is known only if the item is still refused. */
export function replayedItems<Made, Outcome>(
  items: readonly ReadItem<unknown>[],
  made: readonly (Made | null)[],
  outcomeOf: (made: Made) => Outcome,
): (Outcome | Failed)[] {
  return items.map((item, index) => {
    const one = made[index] ?? null;
    if (one !== null) return outcomeOf(one);
    return "error" in item ? item : { error: refusedBefore() };
  });
}

function refusedBefore(): CarillonError {
  return new CarillonError("bad_request", "The first call with this Idempotency-Key refused this item.");
}
