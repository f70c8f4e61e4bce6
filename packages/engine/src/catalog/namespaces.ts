import { CarillonError } from "@carillon/core";
import type { KnownNamespace, NamespaceChange, NamespaceStore, NamespaceView } from "@carillon/store";
import { afterCommit } from "../after-commit.js";
import type { EngineContext } from "../context.js";
import {
  type ChangeContext,
  type Page,
  type PageRequest,
  type Receipt,
  storeWithReceipt,
  toPage,
} from "../requests.js";

/** After a change is stored: this node reads it before the caller is answered, the others are notified. */
export interface ChangeAnnouncer {
  announceChange(): Promise<void>;
}

const defaultWeight = 1;

/** The namespaces as this node last read them. */
export class NamespaceCache {
  readonly #store: Pick<NamespaceStore, "list">;
  readonly #known = new Map<number, KnownNamespace>();

  constructor(store: Pick<NamespaceStore, "list">) {
    this.#store = store;
  }

  get ids(): Iterable<number> {
    return this.#known.keys();
  }

  weightOf(id: number): number {
    return this.#known.get(id)?.weight ?? defaultWeight;
  }

  nameOf(id: number): string | null {
    return this.#known.get(id)?.name ?? null;
  }

  async refresh(): Promise<void> {
    for (const namespace of await this.#store.list()) {
      // Of two concurrent reads the earlier one may return last.
      if (namespace.version < (this.#known.get(namespace.id)?.version ?? 0)) continue;
      this.#known.set(namespace.id, namespace);
    }
  }
}

/** The namespaces: every job, run, queue and worker belongs to one. Every node applies a change within a second. */
export class Namespaces {
  readonly #store: NamespaceStore;
  readonly #catalog: ChangeAnnouncer;
  readonly #db: EngineContext["db"];

  /** The id of a namespace, as events have it. Throws not_found. */
  readonly idOf: EngineContext["namespaceId"];

  constructor(
    { db, store, namespaceId }: Pick<EngineContext, "db" | "store" | "namespaceId">,
    catalog: ChangeAnnouncer,
  ) {
    this.#db = db;
    this.#store = store.namespaces;
    this.idOf = namespaceId;
    this.#catalog = catalog;
  }

  async list({ pageSize, after }: PageRequest): Promise<Page<NamespaceView>> {
    const rows = await this.#store.page({ limit: pageSize + 1, ...(after !== undefined && { after }) });
    return toPage(rows, pageSize, (row) => row.name);
  }

  async get(name: string): Promise<NamespaceView | null> {
    return (await this.#store.page({ limit: 1, only: name }))[0] ?? null;
  }

  /** Throws namespace_taken. */
  async create(name: string, weight: number, receipt?: Receipt): Promise<NamespaceView> {
    const created = await storeWithReceipt(
      this.#db,
      receipt,
      (tx) => this.#store.create(name, weight, tx),
      (stored) => (stored === null ? null : { namespace: name }),
    );
    if (created === null) throw new CarillonError("namespace_taken", `The namespace ${name} already exists.`);
    await afterCommit(() => this.#catalog.announceChange());
    return created;
  }

  /** Throws not_found, precondition_failed. */
  async change(name: string, change: NamespaceChange, { ifVersion }: ChangeContext): Promise<NamespaceView> {
    const changed = await this.#store.change(name, change, ifVersion ?? null);
    if (changed === null) throw refusal(name, await this.get(name), ifVersion);
    await afterCommit(() => this.#catalog.announceChange());
    return changed;
  }
}

function refusal(name: string, found: NamespaceView | null, ifVersion: number | undefined): CarillonError {
  if (found === null) return new CarillonError("not_found", `There is no namespace ${JSON.stringify(name)}.`);
  return new CarillonError(
    "precondition_failed",
    `The namespace ${name} has version ${found.version}, not ${ifVersion ?? "this one"}.`,
  );
}
