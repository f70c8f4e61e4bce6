import type { CallbackAnswer } from "@carillon/core";

/**
 * taken: the run has ended so, or will as soon as its worker says that it waits. used: it came before. over: nobody waits for it any
 * more. unknown: there never was such a token, or long ago.
 */
export type CallbackTaken = "taken" | "used" | "over" | "unknown";

export interface Callbacks {
  /** `tokenHash` is the SHA-256 of the token, in hexadecimal. Durable when it is taken. */
  answerCallback(tokenHash: string, answer: CallbackAnswer): Promise<CallbackTaken>;
}
