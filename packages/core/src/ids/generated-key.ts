import { canonicalUuid, uuidOfWords, wordsOfUuid } from "./uuid.js";

/**
 * The Idempotency-Key of a client for a call whose caller gave none: "auto-" and a UUIDv7 of the call's time. A server stores the runs of
 * the call under ids that follow from it. Returns the UUID; null for a key that a caller chose.
 */
export function idOfGeneratedKey(key: string): string | null {
  const id = key.startsWith("auto-") ? canonicalUuid(key.slice(5)) : null;
  return id !== null && id[14] === "7" && /[89ab]/.test(id[19] ?? "") ? id : null;
}

/** The id of the run at this index of a call. The first has the id of the call itself. */
export function idOfItem(id: string, index: number): string {
  const [a, b, c, d] = wordsOfUuid(id);
  return uuidOfWords(a, b, c, (d + index) | 0);
}
