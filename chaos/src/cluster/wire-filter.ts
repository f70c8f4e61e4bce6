import type { Step } from "../plan/step.js";

/** The channel of the nodes' notifications to each other. */
const channel = "carillon_hint";
/** The first byte of a notification message from PostgreSQL. */
const notification = "A".charCodeAt(0);

interface PendingStep {
  readonly step: Step;
  readonly action: () => void;
}

/** Filters the bytes between a node and the database: acts at a given statement, and can drop notifications. */
export class WireFilter {
  #pending: PendingStep | null = null;
  #dropsNotifications = false;

  /** The filter function for the proxy. */
  readonly filter = (chunk: Buffer, from: "client" | "server"): Buffer => {
    if (from === "client")
      return this.#pending !== null && chunk.includes(this.#pending.step.statement)
        ? this.#reachStep(chunk, this.#pending)
        : chunk;
    // Notifications use their own connection, so a chunk that begins with one contains nothing else.
    const isDropped = this.#dropsNotifications && chunk[0] === notification && chunk.includes(channel);
    return isDropped ? Buffer.alloc(0) : chunk;
  };

  /** Whether notifications to the node are dropped, as a network or a pooler may do. */
  set dropsNotifications(dropsNotifications: boolean) {
    this.#dropsNotifications = dropsNotifications;
  }

  /** Calls `action` at the step, before any later bytes pass, or when the limit is over; then resolves. */
  async at(step: Step, action: () => void, limitMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const act = (): void => {
        clearTimeout(timer);
        this.#pending = null;
        action();
        resolve();
      };
      const timer = setTimeout(act, limitMs);
      this.#pending = { step, action: act };
    });
  }

  #reachStep(chunk: Buffer, { step, action }: PendingStep): Buffer {
    action();
    return step.when === "before" ? Buffer.alloc(0) : chunk;
  }
}
