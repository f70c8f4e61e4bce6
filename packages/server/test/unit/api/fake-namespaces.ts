import { CarillonError } from "@carillon/core";
import type {
  Breakers,
  BreakerView,
  ChangeContext,
  NamespaceChange,
  Namespaces,
  NamespaceView,
  Page,
  PageRequest,
} from "@carillon/engine";
import { FakeBackfills } from "./fake-backfills.js";
import { pageOf } from "./fake-engine.js";

/** Namespaces in memory: stored and shown, without any effect. */
export class FakeNamespaces extends FakeBackfills implements Namespaces, Breakers {
  readonly namespaces = new Map<string, NamespaceView>();

  async listNamespaces(page: PageRequest): Promise<Page<NamespaceView>> {
    const rows = [...this.namespaces.values()].map((one) => ({ ...one, id: one.name }));
    return pageOf(
      rows.sort((a, b) => (a.name < b.name ? -1 : 1)),
      page,
    );
  }

  async getNamespace(name: string): Promise<NamespaceView | null> {
    return this.namespaces.get(name) ?? null;
  }

  async createNamespace(name: string, weight: number): Promise<NamespaceView> {
    if (this.namespaces.has(name)) throw new CarillonError("namespace_taken", "the name is taken");
    const at = this.now();
    const made = { name, weight, limits: null, version: 1, createdAt: at, updatedAt: at };
    this.namespaces.set(name, made);
    return made;
  }

  async changeNamespace(name: string, change: NamespaceChange, { ifVersion }: ChangeContext): Promise<NamespaceView> {
    const before = this.namespaces.get(name);
    if (before === undefined) throw new CarillonError("not_found", "there is none");
    if (ifVersion !== undefined && ifVersion !== before.version)
      throw new CarillonError("precondition_failed", "it has another version");
    const after = { ...before, ...change, version: before.version + 1 };
    this.namespaces.set(name, after);
    return after;
  }

  readonly breakers = new Map<string, BreakerView>();

  async listBreakers(_namespace: string, page: PageRequest): Promise<Page<BreakerView>> {
    const rows = [...this.breakers.values()].map((one) => ({ ...one, id: one.name }));
    return pageOf(rows, page);
  }

  async getBreaker(_namespace: string, name: string): Promise<BreakerView | null> {
    return this.breakers.get(name) ?? null;
  }

  async resetBreaker(_namespace: string, name: string): Promise<BreakerView | null> {
    const found = this.breakers.get(name);
    return found === undefined ? null : { ...found, state: "closed" };
  }
}
