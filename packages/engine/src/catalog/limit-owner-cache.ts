import type { KnownOwners, LimitOwner } from "@carillon/store";

/**
 * The queues and namespaces that have limits of their own, as this node last read them. Every claim names the revision that it was planned
 * with: a claim with a stale copy takes nothing.
 */
export class LimitOwnerCache {
  readonly #read: () => Promise<KnownOwners>;
  readonly #listeners: (() => void)[] = [];
  #known: KnownOwners = { revision: -1, owners: [] };
  #keys = new Set<string>();

  constructor(read: () => Promise<KnownOwners>) {
    this.#read = read;
  }

  get revision(): number {
    return this.#known.revision;
  }

  get all(): readonly LimitOwner[] {
    return this.#known.owners;
  }

  /** Whether the queue or its namespace has limits. */
  isLimited(namespaceId: number, queue: string): boolean {
    if (this.#keys.size === 0) return false;
    return this.#keys.has(keyOf({ namespaceId, queue })) || this.#keys.has(keyOf({ namespaceId, queue: null }));
  }

  /** The listener is called when another revision was read, before a claim uses it. */
  onChanged(listener: () => void): void {
    this.#listeners.push(listener);
  }

  async refresh(): Promise<void> {
    const known = await this.#read();
    // Of two concurrent reads the earlier one may return last.
    if (known.revision <= this.#known.revision) return;
    this.#known = known;
    this.#keys = new Set(known.owners.map(keyOf));
    for (const listener of this.#listeners) listener();
  }
}

const keyOf = ({ namespaceId, queue }: LimitOwner): string => `${namespaceId} ${queue ?? ""}`;
