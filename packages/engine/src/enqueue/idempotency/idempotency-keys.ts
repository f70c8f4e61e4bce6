import { CarillonError, type DurationMs } from "@carillon/core";
import type { Effect, KeptAnswer, KeyUse, KeyedCall, ReceiptStore } from "@carillon/store";
import type { EngineContext } from "../../context.js";
import type { Receipt } from "../../requests.js";

type IdempotencyContext = Pick<EngineContext, "inNamespace" | "newId"> & {
  readonly store: { readonly receipts: ReceiptStore };
};

/** How long a key answers for its call. */
const keptMs: DurationMs = 86_400_000;
/** No call takes longer; one that has done nothing by then died with its node. */
const givenUpMs: DurationMs = 60_000;
const mostTries = 5;

/**
 * Calls that may be repeated. The key's row is taken before the call is looked at; what the call does is noted there in its own
 * transaction, so that a repeat finds it whatever died in between; the answer follows.
 */
export class IdempotencyKeys {
  readonly #context: IdempotencyContext;

  constructor(context: IdempotencyContext) {
    this.#context = context;
  }

  begin(namespace: string, call: KeyedCall): Promise<BegunCall> {
    return this.#context.inNamespace(namespace, (id) => this.#begin(id, call));
  }

  async #begin(namespaceId: number, call: KeyedCall): Promise<BegunCall> {
    const {
      newId,
      store: { receipts },
    } = this.#context;
    const use: KeyUse = { ...call, namespaceId, token: newId() };
    for (let tries = 0; tries < mostTries; tries += 1) {
      if (await receipts.begin(use, keptMs, givenUpMs)) return this.#own(use);
      const row = await receipts.find(use);
      // It was given back in between.
      if (row === null) continue;
      if (row.request !== call.request) return { state: "other" };
      if (row.answer !== null) return { state: "done", answer: row.answer };
      return row.effect === null ? { state: "busy" } : { state: "effect", effect: row.effect };
    }
    return { state: "busy" };
  }

  #own(use: KeyUse): OwnCall {
    const { receipts } = this.#context.store;
    return {
      state: "own",
      receipt: {
        async keep(tx, effect) {
          if (await receipts.note(tx, use, effect)) return;
          throw new CarillonError("idempotency_in_progress", "another call has taken this Idempotency-Key over");
        },
      },
      answered: (answer) => receipts.answer(use, answer),
      refused: () => receipts.forget(use),
    };
  }
}

/** A call under its key. Exactly one of `answered` and `refused` ends it. */
export interface OwnCall {
  readonly state: "own";
  readonly receipt: Receipt;
  answered(answer: KeptAnswer): Promise<void>;
  /** It did nothing: the key may be used again. */
  refused(): Promise<void>;
}

/**
 * done: what was answered before; effect: it was done, and whoever did it died before the answer was kept; busy: somebody works on
 * it; other: the key was used for another request.
 */
export type BegunCall =
  | OwnCall
  | { readonly state: "done"; readonly answer: KeptAnswer }
  | { readonly state: "effect"; readonly effect: Effect }
  | { readonly state: "busy" }
  | { readonly state: "other" };
