import { CarillonError, type DurationMs } from "@carillon/core";
import {
  type Database,
  type Effect,
  isDatabaseAway,
  type KeptAnswer,
  type KeyUse,
  type KeyedCall,
  type ReceiptStore,
} from "@carillon/store";
import type { EngineContext } from "../../context.js";
import type { Receipt } from "../../requests.js";

type IdempotencyContext = Pick<EngineContext, "inNamespace" | "newId"> & {
  readonly db: Pick<Database, "waitUntilUp">;
  readonly store: { readonly receipts: ReceiptStore };
};

/** How long the answer of a call is kept. */
const keptMs: DurationMs = 86_400_000;
/** No call takes longer. If a call has no effect by then, its node died, and another call may take the key. */
const abandonedMs: DurationMs = 60_000;
const maxTries = 5;
/** Keys that wait for their release while the database is away; more of them are left to be abandoned. */
const maxToRelease = 10_000;

/**
 * Makes calls repeatable under an Idempotency-Key. The key's row is taken before the call is read. The call's transaction records its effect
 * in the row, so that a repeat finds it whichever process died in between. The answer is added after the commit.
 */
export class IdempotencyKeys {
  readonly #context: IdempotencyContext;
  readonly #toRelease = new Set<KeyUse>();
  #isReleasing = false;

  constructor(context: IdempotencyContext) {
    this.#context = context;
  }

  begin(namespace: string, call: KeyedCall): Promise<BegunCall> {
    return this.#context.inNamespace(namespace, (id) => this.#begin(id, call));
  }

  /** An unknown outcome concerns the key alone: nothing of the call was done. */
  async #begin(namespaceId: number, call: KeyedCall): Promise<BegunCall> {
    const use: KeyUse = { ...call, namespaceId, token: this.#context.newId() };
    try {
      return await this.#take(use, call);
    } catch (error) {
      if (!isDatabaseAway(error)) throw error;
      this.#releaseLater(use);
      throw new CarillonError("database_unavailable", "The Idempotency-Key could not be taken.", { cause: error });
    }
  }

  async #take(use: KeyUse, call: KeyedCall): Promise<BegunCall> {
    const { receipts } = this.#context.store;
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
      failed: () => this.#release(use),
    };
  }

  /**
   * The key may be used again, unless the call had its effect. After an unknown outcome this is exact: a transaction that may still commit
   * holds the lock of the key's row, and the release waits for its end.
   */
  async #release(use: KeyUse): Promise<void> {
    try {
      await this.#context.store.receipts.forget(use);
    } catch (error) {
      if (!isDatabaseAway(error)) throw error;
      this.#releaseLater(use);
    }
  }

  /** As soon as the database is back, so that a repeated call need not wait until the key counts as abandoned. */
  #releaseLater(use: KeyUse): void {
    if (this.#toRelease.size >= maxToRelease) return;
    this.#toRelease.add(use);
    if (this.#isReleasing) return;
    this.#isReleasing = true;
    void this.#releaseAll().finally(() => (this.#isReleasing = false));
  }

  async #releaseAll(): Promise<void> {
    const { db, store } = this.#context;
    for (const use of this.#toRelease) {
      await db.waitUntilUp();
      try {
        await store.receipts.forget(use);
      } catch {
        // The key counts as abandoned after a minute.
      }
      this.#toRelease.delete(use);
    }
  }
}

/** A call under its key. Exactly one of `answered` and `failed` ends it. */
export interface OwnCall {
  readonly state: "own";
  readonly receipt: Receipt;
  answered(answer: KeptAnswer): Promise<void>;
  /** The call was refused or its outcome is unknown: the key may be used again if it had no effect. */
  failed(): Promise<void>;
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
