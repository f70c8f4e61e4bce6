import {
  type CalendarDefinition,
  type CalendarSet,
  type CallbackAnswer,
  CarillonError,
  compileCalendar,
  type MaintenanceWindow,
} from "@carillon/core";
import type {
  CallbackTaken,
  CalendarView,
  ChangeContext,
  Page,
  PageRequest,
  Webhooks,
  WindowView,
} from "@carillon/engine";
import type { ApiEngine } from "../../../src/api/http/handler.js";
import { pageOf } from "./fake-engine.js";
import { FakeWorkerViews } from "./fake-worker-views.js";

/** Calendars and windows in memory: stored and shown, without any effect. */
export class FakeEngine extends FakeWorkerViews implements Omit<ApiEngine, keyof Webhooks> {
  readonly calendars = new Map<string, CalendarView>();
  readonly windows = new Map<string, WindowView>();

  /** Callbacks by the hash of their token. */
  readonly callbacks = new Map<string, CallbackAnswer | null>();

  async answerCallback(tokenHash: string, answer: CallbackAnswer): Promise<CallbackTaken> {
    this.failOnce();
    const before = this.callbacks.get(tokenHash);
    if (before === undefined) return "unknown";
    if (before !== null) return "used";
    this.callbacks.set(tokenHash, answer);
    return "taken";
  }

  async putCalendar(_namespace: string, definition: CalendarDefinition, { ifVersion }: ChangeContext) {
    this.failOnce();
    const before = this.calendars.get(definition.name);
    if (ifVersion !== undefined && before?.version !== ifVersion)
      throw new CarillonError("precondition_failed", "the calendar has another version");
    const [createdAt, updatedAt] = [before?.createdAt ?? this.now(), this.now()];
    const calendar = { version: (before?.version ?? 0) + 1, definition, createdAt, updatedAt };
    this.calendars.set(definition.name, calendar);
    return { calendar, created: before === undefined };
  }

  async getCalendar(_namespace: string, name: string): Promise<CalendarView | null> {
    return this.calendars.get(name) ?? null;
  }

  async listCalendars(_namespace: string, page: PageRequest): Promise<Page<CalendarView>> {
    return pageOf(byName(this.calendars), page);
  }

  async deleteCalendar(_namespace: string, name: string): Promise<boolean> {
    this.failOnce();
    return this.calendars.delete(name);
  }

  async calendarSet(_namespace: string, names: readonly string[]): Promise<CalendarSet> {
    const known = [...this.calendars].filter(([name]) => names.includes(name));
    return new Map(known.map(([name, { definition }]) => [name, compileCalendar(definition)]));
  }

  async putWindow(_namespace: string, window: MaintenanceWindow) {
    const before = this.windows.get(window.name);
    const view = { window, createdAt: before?.createdAt ?? this.now(), updatedAt: this.now() };
    this.windows.set(window.name, view);
    return { window: view, created: before === undefined };
  }

  async getWindow(_namespace: string, name: string): Promise<WindowView | null> {
    return this.windows.get(name) ?? null;
  }

  async listWindows(_namespace: string, page: PageRequest): Promise<Page<WindowView>> {
    return pageOf(byName(this.windows), page);
  }

  async deleteWindow(_namespace: string, name: string): Promise<boolean> {
    return this.windows.delete(name);
  }
}

function byName<View extends object>(views: ReadonlyMap<string, View>): (View & { readonly id: string })[] {
  return [...views].map(([id, view]) => ({ ...view, id })).sort((one, other) => (one.id < other.id ? -1 : 1));
}
