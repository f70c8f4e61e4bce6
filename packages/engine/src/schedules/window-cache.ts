import { type ActiveWindow, type Instant, MaintenanceWindows } from "@carillon/core";
import { type CalendarSource, noCalendars } from "./named-calendars.js";
import type { FireStore } from "./fire-store.js";
import type { DueDefinition } from "@carillon/store";

interface OfNamespace {
  readonly namespace: string;
  readonly windows: MaintenanceWindows;
}

/** Decides whether a window covers a job. */
type Subject = Pick<DueDefinition, "namespaceId" | "queue" | "labels">;

const noWindow = (): null => null;

/**
 * The maintenance windows as this node last read them. A fire compares their revision, so that a stale copy fires nothing. The revision grows
 * with new versions of calendars too; calendars are read after the revision, so they are never older than it.
 */
export class WindowCache {
  readonly #store: Pick<FireStore, "windows">;
  readonly #calendars: CalendarSource;
  #byNamespace: ReadonlyMap<number, OfNamespace> = new Map();
  #revision = -1;
  #isStale = true;

  constructor(store: Pick<FireStore, "windows">, calendars: CalendarSource = noCalendars) {
    this.#store = store;
    this.#calendars = calendars;
  }

  /** -1 before the first read: no write matches it. */
  get revision(): number {
    return this.#revision;
  }

  /** The windows may have changed: the next `read` reads them again. */
  markStale(): void {
    this.#isStale = true;
  }

  async read(): Promise<void> {
    if (!this.#isStale) return;
    // Before the query: a mark that is set while the query runs causes another read.
    this.#isStale = false;
    try {
      await this.#readChanged();
    } catch (error) {
      this.#isStale = true;
      throw error;
    }
  }

  async #readChanged(): Promise<void> {
    const { revision, byNamespace } = await this.#store.windows();
    if (revision === this.#revision) return;
    await this.#calendars.refresh();
    this.#byNamespace = new Map(
      [...byNamespace].map(([id, { namespace, windows }]) => [
        id,
        { namespace, windows: new MaintenanceWindows(windows) },
      ]),
    );
    this.#revision = revision;
  }

  /** The windows that cover a job of this definition. */
  of({ namespaceId, queue, labels }: Subject): (instant: Instant) => ActiveWindow | null {
    const known = this.#byNamespace.get(namespaceId);
    if (known === undefined) return noWindow;
    const { namespace, windows } = known;
    return (instant) => windows.windowAt(instant, { namespace, queue, labels });
  }
}
