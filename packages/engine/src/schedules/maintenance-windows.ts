import { type ActiveWindow, type Instant, MaintenanceWindows } from "@carillon/core";
import { type CalendarSource, noCalendars } from "./named-calendars.js";
import type { FireStore } from "./fire-store.js";
import type { DueDefinition } from "@carillon/store";

interface OfNamespace {
  readonly namespace: string;
  readonly windows: MaintenanceWindows;
}

/** What decides whether a window covers a job. */
type Subject = Pick<DueDefinition, "namespaceId" | "queue" | "labels">;

const noWindow = (): null => null;

/**
 * The maintenance windows as this node last read them. A fire compares their revision, so that a stale copy fires nothing.
 * The revision grows with new versions of calendars too; they are read after it, and so are never older than it says.
 */
export class Maintenance {
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

  /** Somebody changed them, or may have: the next `read` asks. */
  markStale(): void {
    this.#isStale = true;
  }

  async read(): Promise<void> {
    if (!this.#isStale) return;
    // Before the question: what is marked while it is on its way is asked again.
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

  /** The windows that a job of this definition is subject to. */
  of({ namespaceId, queue, labels }: Subject): (instant: Instant) => ActiveWindow | null {
    const known = this.#byNamespace.get(namespaceId);
    if (known === undefined) return noWindow;
    const { namespace, windows } = known;
    return (instant) => windows.windowAt(instant, { namespace, queue, labels });
  }
}
