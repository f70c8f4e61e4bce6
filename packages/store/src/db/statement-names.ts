import type { OnDatabaseEvent } from "./events.js";

/** Names that got lost before we stop believing that there is a session to keep them. */
const patience = 20;

/** The prepared statement is not there (26000), or is there though we never made it (42P05). */
const lostName: ReadonlySet<string | undefined> = new Set(["26000", "42P05"]);

export function isLostName(sqlState: string | undefined): boolean {
  return lostName.has(sqlState);
}

/**
 * Whether loaded statements go by name, which saves their parsing. A name lives in a session, so a pooler that shares
 * sessions breaks it: with "auto" names are used on direct connections only, and no more once too many got lost.
 */
export class StatementNames {
  readonly #mode: "auto" | "on" | "off";
  readonly #onEvent: OnDatabaseEvent;
  #lost = 0;

  constructor(mode: "auto" | "on" | "off", onEvent: OnDatabaseEvent) {
    this.#mode = mode;
    this.#onEvent = onEvent;
  }

  usable(direct: boolean): boolean {
    return this.#mode === "on" || (this.#mode === "auto" && direct && this.#lost < patience);
  }

  countLost(): void {
    this.#lost++;
    if (this.#mode === "auto" && this.#lost === patience) {
      this.#onEvent({ type: "statement_names.off", reason: "the server keeps losing prepared statements" });
    }
  }
}
