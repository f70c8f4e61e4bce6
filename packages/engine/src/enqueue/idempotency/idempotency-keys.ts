import { CarillonError, type DurationMs } from "@carillon/core";
import type { Effect, KeptAnswer, KeyUse, KeyedCall, ReceiptStore } from "@carillon/store";
import type { EngineContext } from "../../context.js";
import type { Receipt } from "../../requests.js";

type IdempotencyContext = Pick<EngineContext, "inNamespace" | "newId"> & {
  readonly store: { readonly receipts: ReceiptStore };
};

/** How long the answer of a call is kept. */
const keptMs: DurationMs = 86_400_000;
/** No call takes longer. If a call has no effect by then, its node died, and another call may take the key. */
const abandonedMs: DurationMs = 60_000;
const maxTries = 5;

/**
 * Makes calls repeatable under an Idempotency-Key. The key's row is taken before the call is read. The call's transaction records its effect
 * in the row, so that a repeat finds it whichever process died in between. The answer is added after the commit.
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
    for (let tries = 0; tries < maxTries; tries += 1) {
      if (await receipts.begin(use, keptMs, abandonedMs)) return this.#own(use);
      const row = await receipts.find(use);
      // The other call was refused and has returned the key.
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
          throw new CarillonError("idempotency_in_progress", "Another call has taken over this Idempotency-Key.");
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
  /** The call had no effect: the key may be used again. */
  refused(): Promise<void>;
}

/**
 * done: the kept answer of the first call. effect: the first call committed and its node died before it kept the answer. busy: another call
 * with this key is under way. other: the key was used for another request.
 */
export type BegunCall =
  | OwnCall
  | { readonly state: "done"; readonly answer: KeptAnswer }
  | { readonly state: "effect"; readonly effect: Effect }
  | { readonly state: "busy" }
  | { readonly state: "other" };
