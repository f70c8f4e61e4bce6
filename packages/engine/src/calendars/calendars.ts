import type { CalendarDefinition, CalendarSet } from "@carillon/core";
import type { CalendarView } from "@carillon/store";
import { afterCommit } from "../after-commit.js";
import type { EngineContext } from "../context.js";
import { type ChangeContext, type Page, type PageRequest, toPage } from "../requests.js";
import type { CalendarCache, CalendarCompiler } from "./calendar-cache.js";
import type { CalendarSweep } from "./calendar-sweep.js";

export type CalendarsContext = Pick<EngineContext, "inNamespace" | "loopFailed" | "shardCount" | "store" | "wakeups">;

export interface CalendarsDeps {
  readonly cache: CalendarCache;
  readonly compiler: CalendarCompiler;
  readonly sweep: CalendarSweep;
}

/** The calendars of a namespace, by name. */
export class Calendars {
  readonly #context: CalendarsContext;
  readonly #deps: CalendarsDeps;

  constructor(context: CalendarsContext, deps: CalendarsDeps) {
    this.#context = context;
    this.#deps = deps;
  }

  list(namespace: string, { pageSize, after }: PageRequest): Promise<Page<CalendarView>> {
    const { store, inNamespace } = this.#context;
    return inNamespace(namespace, async (id) => {
      const rows = await store.calendars.list(id, after ?? null, pageSize + 1);
      return toPage(rows, pageSize, ({ definition }) => definition.name);
    });
  }

  get(namespace: string, name: string): Promise<CalendarView | null> {
    return this.#context.inNamespace(namespace, (id) => this.#context.store.calendars.find(id, name));
  }

  /** Creates it, or stores a new version; an equal definition makes none. Throws calendar_invalid, precondition_failed. */
  put(
    namespace: string,
    definition: CalendarDefinition,
    { ifVersion }: ChangeContext,
  ): Promise<{ readonly calendar: CalendarView; readonly created: boolean }> {
    const { store, inNamespace } = this.#context;
    return inNamespace(namespace, async (id) => {
      this.#deps.compiler.compile(definition, 1);
      const { calendar, outcome } = await store.calendars.put(id, {
        definition,
        ...(ifVersion !== undefined && { ifVersion }),
      });
      if (outcome === "replaced") await afterCommit(() => this.#recomputeJobs());
      return { calendar, created: outcome === "created" };
    });
  }

  /** false: there is none. Throws calendar_in_use, naming some of the live jobs that use it. */
  delete(namespace: string, name: string, { ifVersion }: ChangeContext): Promise<boolean> {
    return this.#context.inNamespace(namespace, (id) => this.#context.store.calendars.delete(id, name, ifVersion));
  }

  /** The named calendars that exist, compiled. */
  set(namespace: string, names: readonly string[]): Promise<CalendarSet> {
    return this.#context.inNamespace(namespace, async (id) => {
      await this.#deps.cache.refresh();
      const requested = new Set(names);
      return new Map([...this.#deps.cache.calendarsOf(id)].filter(([name]) => requested.has(name)));
    });
  }

  /** Awaited before the caller is answered, so that the caller reads the new times of its jobs. */
  async #recomputeJobs(): Promise<void> {
    const { shardCount, loopFailed, wakeups } = this.#context;
    try {
      await this.#deps.cache.refresh();
      await this.#deps.sweep.tick(Array.from({ length: shardCount }, (_, shard) => shard));
    } catch (error) {
      // The new version is stored: the owners of the shards recompute the jobs.
      loopFailed("calendars", error);
    }
    wakeups.broadcast("calendars");
  }
}
