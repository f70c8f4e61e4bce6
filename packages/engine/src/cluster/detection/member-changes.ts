import type { OnEngineEvent } from "../../events.js";

/** Says who came and who went, by comparing each list of members with the one before. */
export class Roll {
  readonly #onEvent: OnEngineEvent;
  #names: Map<string, string> | null = null;

  constructor(onEvent: OnEngineEvent) {
    this.#onEvent = onEvent;
  }

  call(members: readonly { id: string; name: string }[], own: string): void {
    const before = this.#names;
    this.#names = new Map(members.filter(({ id }) => id !== own).map(({ id, name }) => [id, name]));
    if (before === null) return;
    for (const [nodeId, name] of this.#names) {
      if (!before.has(nodeId)) this.#onEvent({ type: "node.joined", nodeId, name });
    }
    for (const [nodeId, name] of before) {
      if (!this.#names.has(nodeId)) this.#onEvent({ type: "node.left", nodeId, name });
    }
  }

  /** It was declared dead here, which was told already. */
  strike(nodeId: string): void {
    this.#names?.delete(nodeId);
  }
}
