/** What every host of this package has, though the language's own library does not name it. */
declare const crypto: { getRandomValues(into: Uint8Array): Uint8Array };

/** Bytes that nobody can foresee; for ids and secrets. */
export function systemRandomBytes(size: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(size));
}

/** From 0 (included) to 1 (excluded); for jitter, not for secrets. */
export function systemRandom(): number {
  return Math.random();
}
