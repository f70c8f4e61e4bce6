const refusedAsStale = "idempotency_key_stale";

/**
 * Makes the Idempotency-Key of a call whose caller gave none: "auto-" and a UUIDv7, from which the server takes the ids of new runs. Its
 * time must be close to the server's, so a client whose clock is wrong corrects it by the Date header of the refusal.
 */
export class GeneratedKeys {
  readonly #now: () => number;
  #serverIsAheadMs = 0;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  next(): string {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    const time = Math.max(0, this.#now() + this.#serverIsAheadMs);
    for (let at = 5, rest = time; at >= 0; at--, rest = Math.floor(rest / 256)) bytes[at] = rest % 256;
    bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f);
    bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
    const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    return `auto-${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  }

  /** Another key for the same call, if the server refused the first one because of its time; null for any other refusal. */
  afterRefusal(code: string, serverDate: string | null): string | null {
    const at = serverDate === null ? Number.NaN : Date.parse(serverDate);
    if (code !== refusedAsStale || Number.isNaN(at)) return null;
    this.#serverIsAheadMs = at - this.#now();
    return this.next();
  }
}
