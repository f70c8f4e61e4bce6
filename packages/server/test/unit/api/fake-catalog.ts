import {
  type CalendarDefinition,
  type CalendarSet,
  CarillonError,
  compileCalendar,
  type MaintenanceWindow,
  type QueueOrder,
} from "@carillon/core";
import type {
  BreakerView,
  CalendarView,
  ChangeContext,
  ListedLimit,
  NamespaceChange,
  NamespaceView,
  Page,
  PageRequest,
  QueueChange,
  QueuePauseSpec,
  QueueStats,
  QueueView,
  WindowView,
} from "@carillon/engine";
import { checkVersion, FakeComponent, FakeNamedComponent, pageByName, type Port } from "./fake-state.js";

// Configuration of the scheduler: stored and shown, without any effect.

export class FakeNamespaces extends FakeComponent implements Port<"namespaces"> {
  readonly #stored = new Map<string, NamespaceView>();

  /** Every name is that of a namespace. */
  async idOf(): Promise<number> {
    return 1;
  }

  async list(page: PageRequest): Promise<Page<NamespaceView>> {
    return pageByName(this.#stored, page);
  }

  async get(name: string): Promise<NamespaceView | null> {
    return this.#stored.get(name) ?? null;
  }

  async create(name: string, weight: number): Promise<NamespaceView> {
    if (this.#stored.has(name)) throw new CarillonError("namespace_taken", "the name is taken");
    const at = this.state.now();
    const made = { name, weight, limits: null, version: 1, createdAt: at, updatedAt: at };
    this.#stored.set(name, made);
    return made;
  }

  async change(name: string, change: NamespaceChange, context: ChangeContext): Promise<NamespaceView> {
    const before = this.#stored.get(name);
    if (before === undefined) throw new CarillonError("not_found", "there is none");
    checkVersion(context, before.version);
    const after = { ...before, ...change, version: before.version + 1 };
    this.#stored.set(name, after);
    return after;
  }
}

export class FakeQueues extends FakeNamedComponent<QueueView> implements Port<"queues"> {
  async change(_namespace: string, name: string, change: QueueChange, context: ChangeContext): Promise<QueueView> {
    const before = this.stored.get(name);
    const { order: kind = before?.order.kind ?? "priority", boundMs } = change;
    if (before !== undefined && (kind === "strict") !== (before.order.kind === "strict"))
      throw new CarillonError("queue_order_fixed", "the order is fixed");
    const order: QueueOrder = typeof boundMs === "number" ? { kind, boundMs } : { kind };
    return this.#put(name, context, { order });
  }

  async pause(_namespace: string, name: string, pause: QueuePauseSpec, context: ChangeContext): Promise<QueueView> {
    return this.#put(name, context, { pause: { ...pause, actor: context.actor, at: this.state.now() } });
  }

  async resume(_namespace: string, name: string, context: ChangeContext): Promise<QueueView> {
    return this.#put(name, context, { pause: null });
  }

  async stats(_namespace: string, name: string): Promise<QueueStats | null> {
    if (!this.stored.has(name)) return null;
    const oldest = { oldestDueAt: this.state.now() - 5_000, waitMs: 5_000 };
    return { queued: 3, running: 1, ...oldest, workers: 2, slots: 8, isExact: true };
  }

  async statsOfMany(namespace: string, names: readonly string[]): Promise<Map<string, QueueStats>> {
    const stats = new Map<string, QueueStats>();
    for (const name of names) {
      const own = await this.stats(namespace, name);
      if (own !== null) stats.set(name, own);
    }
    return stats;
  }

  #put(name: string, context: ChangeContext, change: Partial<QueueView>): QueueView {
    this.state.failOnce();
    const before = this.stored.get(name);
    checkVersion(context, before?.version);
    const at = this.state.now();
    const initial = { order: { kind: "priority" as const }, pause: null, limits: null, createdAt: at, updatedAt: at };
    const after = { ...initial, ...before, ...change, name, version: (before?.version ?? 0) + 1 };
    this.stored.set(name, after);
    return after;
  }
}

export class FakeCalendars extends FakeNamedComponent<CalendarView> implements Port<"calendars"> {
  async put(_namespace: string, definition: CalendarDefinition, context: ChangeContext) {
    this.state.failOnce();
    const before = this.stored.get(definition.name);
    checkVersion(context, before?.version);
    const times = { createdAt: before?.createdAt ?? this.state.now(), updatedAt: this.state.now() };
    const calendar = { version: (before?.version ?? 0) + 1, definition, ...times };
    this.stored.set(definition.name, calendar);
    return { calendar, created: before === undefined };
  }

  async delete(_namespace: string, name: string): Promise<boolean> {
    this.state.failOnce();
    return this.stored.delete(name);
  }

  async set(_namespace: string, names: readonly string[]): Promise<CalendarSet> {
    const known = [...this.stored].filter(([name]) => names.includes(name));
    return new Map(known.map(([name, { definition }]) => [name, compileCalendar(definition)]));
  }
}

export class FakeWindows extends FakeNamedComponent<WindowView> implements Port<"windows"> {
  async put(_namespace: string, window: MaintenanceWindow) {
    const before = this.stored.get(window.name);
    const view = { window, createdAt: before?.createdAt ?? this.state.now(), updatedAt: this.state.now() };
    this.stored.set(window.name, view);
    return { window: view, created: before === undefined };
  }

  async delete(_namespace: string, name: string): Promise<boolean> {
    return this.stored.delete(name);
  }
}

export class FakeBreakers extends FakeNamedComponent<BreakerView> implements Port<"breakers"> {
  async reset(_namespace: string, name: string): Promise<BreakerView | null> {
    const found = this.stored.get(name);
    return found === undefined ? null : { ...found, state: "closed" };
  }
}

/** There is no limit. */
export class FakeLimits implements Port<"limits"> {
  async list(): Promise<Page<ListedLimit>> {
    return { rows: [], next: null };
  }

  async get(): Promise<null> {
    return null;
  }

  async change(): Promise<null> {
    return null;
  }

  async resume(): Promise<null> {
    return null;
  }
}
