import type { KnownNamespace, NamespaceStore } from "@carillon/store";

const usualWeight = 1;

/** The namespaces as this node knows them. Stale for a moment after a change elsewhere: no safety rests on it. */
export class NamespaceBook {
  readonly #store: Pick<NamespaceStore, "list">;
  readonly #known = new Map<number, KnownNamespace>();

  constructor(store: Pick<NamespaceStore, "list">) {
    this.#store = store;
  }

  get ids(): Iterable<number> {
    return this.#known.keys();
  }

  weightOf(id: number): number {
    return this.#known.get(id)?.weight ?? usualWeight;
  }

  nameOf(id: number): string | null {
    return this.#known.get(id)?.name ?? null;
  }

  /** Reads them again, whoever changed them. */
  async look(): Promise<void> {
    for (const namespace of await this.#store.list()) {
      // Of two looks at once the one that began first may be answered last.
      if (namespace.version < (this.#known.get(namespace.id)?.version ?? 0)) continue;
      this.#known.set(namespace.id, namespace);
    }
  }
}
