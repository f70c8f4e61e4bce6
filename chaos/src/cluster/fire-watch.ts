import { EventEmitter, once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

/** The names under which a node's fires go to the database. */
export const fireStatement = "due.fire";

/** Sees a node's fires pass on their way to the database. */
export class FireWatch {
  readonly #passing = new EventEmitter().setMaxListeners(0);

  /** For the proxy: looks at what goes by, and changes nothing. */
  readonly filter = (chunk: Buffer, from: "client" | "server"): Buffer => {
    if (from === "client" && chunk.includes(fireStatement)) this.#passing.emit("fire");
    return chunk;
  };

  /** Resolves when the next fire passes, or after the limit. */
  async next(limitMs: number): Promise<void> {
    const given = new AbortController();
    await Promise.race([
      once(this.#passing, "fire", { signal: given.signal }).catch(() => undefined),
      sleep(limitMs, undefined, { signal: given.signal }).catch(() => undefined),
    ]);
    given.abort();
  }
}
