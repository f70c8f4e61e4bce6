import type { DurationMs } from "@carillon/core";
import type { CallbackSecretView } from "@carillon/store";
import type { EngineContext } from "../context.js";

/** The secrets that sign callbacks to URLs, one for each namespace. */
export class CallbackSecrets {
  readonly #context: Pick<EngineContext, "store" | "inNamespace">;

  constructor(context: Pick<EngineContext, "store" | "inNamespace">) {
    this.#context = context;
  }

  /** null: the namespace has none yet. */
  get(namespace: string): Promise<CallbackSecretView | null> {
    return this.#context.inNamespace(namespace, (id) => this.#context.store.callbackSecrets.find(id));
  }

  /** The replaced secret signs as well for `overlapMs`. */
  rotate(namespace: string, secret: string, overlapMs: DurationMs): Promise<CallbackSecretView> {
    const { store, inNamespace } = this.#context;
    return inNamespace(namespace, (id) => store.callbackSecrets.rotate(id, secret, overlapMs));
  }

  /** The secrets that sign a callback now; `fresh` becomes the secret of a namespace that has none. */
  signing(namespace: string, fresh: string): Promise<readonly string[]> {
    return this.#context.inNamespace(namespace, (id) => this.#context.store.callbackSecrets.signing(id, fresh));
  }
}
