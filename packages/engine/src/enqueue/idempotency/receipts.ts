import type { Effect, KeptAnswer, KeyedCall } from "@carillon/store";
import type { Receipt } from "../../requests.js";

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

export interface Receipts {
  beginCall(namespace: string, call: KeyedCall): Promise<BegunCall>;
}
