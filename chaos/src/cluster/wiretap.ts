import { EventEmitter, once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

/** The name under which a node's fires go to the database. */
export const fireStatement = "due.fire";
/** The channel of the nodes' hints to each other. */
const hintChannel = "carillon_hint";
/** What PostgreSQL begins a notification with. */
const notification = "A".charCodeAt(0);

/** Sits between a node and the database: sees its fires pass, and can keep hints from it. */
export class Wiretap {
  readonly #passing = new EventEmitter().setMaxListeners(0);
  #isDeaf = false;

  /** For the proxy. */
  readonly filter = (chunk: Buffer, from: "client" | "server"): Buffer => {
    if (from === "client") {
      if (chunk.includes(fireStatement)) this.#passing.emit("fire");
      return chunk;
    }
    // Hints come on a connection of their own, so that what begins with one is nothing else.
    const isHint = this.#isDeaf && chunk[0] === notification && chunk.includes(hintChannel);
    return isHint ? Buffer.alloc(0) : chunk;
  };

  /** Whether hints are kept from the node, as a network or a pooler may lose them. */
  set isDeaf(isDeaf: boolean) {
    this.#isDeaf = isDeaf;
  }

  /** Resolves when the next fire passes, or after the limit. */
  async nextFire(limitMs: number): Promise<void> {
    const given = new AbortController();
    await Promise.race([
      once(this.#passing, "fire", { signal: given.signal }).catch(() => undefined),
      sleep(limitMs, undefined, { signal: given.signal }).catch(() => undefined),
    ]);
    given.abort();
  }
}
