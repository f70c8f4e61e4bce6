import type { KnownOwners, LimitOwner } from "@carillon/store";

/**
 * The queues and namespaces that have limits of their own, as this node last read them. Every claim names the revision that it goes by:
 * with a stale copy it claims nothing.
 */
export class LimitOwners {
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

  /** Runs of the queue wait for limits that it has itself, or its namespace. */
  isLimited(namespaceId: number, queue: string): boolean {
    if (this.#keys.size === 0) return false;
    return this.#keys.has(keyOf({ namespaceId, queue })) || this.#keys.has(keyOf({ namespaceId, queue: null }));
  }

  /** Called when another revision was read, before anybody goes by it. */
  onChanged(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Reads them again, whoever changed them. */
  async look(): Promise<void> {
    const known = await this.#read();
    // Of two looks at once the one that began first may be answered last.
    if (known.revision <= this.#known.revision) return;
    this.#known = known;
    this.#keys = new Set(known.owners.map(keyOf));
    for (const listener of this.#listeners) listener();
  }
}

const keyOf = ({ namespaceId, queue }: LimitOwner): string => `${namespaceId} ${queue ?? ""}`;
