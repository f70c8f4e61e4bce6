import { CarillonError, type DurationMs } from "@carillon/core";
import { calendarApi } from "../calendars/calendar-api.js";
import { CalendarSweep } from "../calendars/calendar-sweep.js";
import { CalendarCompiler } from "../calendars/compile-edition.js";
import { NodeCalendars } from "../calendars/calendar-cache.js";
import type { Membership } from "../cluster/coordinator.js";
import type { DueRules } from "../schedules/due-rules.js";
import type { Calendars } from "../schedules/calendars.js";
import type { ScheduleCache } from "../schedules/schedule-cache.js";
import type { Settled } from "../jobs/transaction/settler.js";
import type { Queryable } from "@carillon/store";
import type { EngineStore } from "./engine-store.js";
import { nodeRules } from "../schedules/node-rules.js";

export interface CalendaringOptions {
  readonly db: Queryable;
  readonly store: EngineStore;
  /** Checks what it has not compiled before. */
  readonly schedules: ScheduleCache;
  readonly shards: number;
  readonly membership: () => Membership;
  readonly onRecomputed: (shards: readonly number[], settled: Settled) => void;
  readonly onCalendarsChanged: () => void;
  readonly onWindowsChanged: () => void;
  readonly onError: (error: unknown) => void;
}

export interface Calendaring {
  readonly api: Calendars;
  readonly calendars: NodeCalendars;
  readonly compiler: CalendarCompiler;
  readonly rules: DueRules;
  /** Jobs that are behind their calendars follow them first; answers those that were. */
  readonly follow: (jobIds: readonly string[]) => Promise<readonly string[]>;
  /** One look at the calendars and at the jobs of this node's shards that follow them; answers when to look again. */
  readonly tick: () => Promise<DurationMs>;
}

/** A change whose hint was lost is followed after at most this time. */
const periodMs = 5_000;

/** The parts that keep calendars and windows, put together. */
export function makeCalendaring(options: CalendaringOptions): Calendaring {
  const { db, store, schedules, membership, onRecomputed, onCalendarsChanged, onWindowsChanged, onError } = options;
  const compiler = new CalendarCompiler();
  const calendars = new NodeCalendars(store.calendars, compiler);
  const rules = nodeRules({ schedules, calendars, store: store.fires });
  const sweep = new CalendarSweep({ db, store, rules, compiler, onRecomputed });
  const everywhere = Array.from({ length: options.shards }, (_, shard) => shard);
  const api = calendarApi({
    calendars: store.calendars,
    windows: store.windows,
    known: calendars,
    compiler,
    namespaceId: async (name) => {
      const id = await store.namespaces.find(name);
      if (id === null) throw new CarillonError("not_found", `there is no namespace ${JSON.stringify(name)}`);
      return id;
    },
    async onReplaced() {
      try {
        await calendars.refresh();
        await sweep.tick(everywhere);
      } catch (error) {
        // The change is stored: the owners of the shards follow it up.
        onError(error);
      }
      onCalendarsChanged();
    },
    onWindowsChanged,
  });
  return {
    api,
    calendars,
    compiler,
    rules,
    follow: (jobIds) => sweep.follow(jobIds),
    async tick() {
      await calendars.refresh();
      const recomputed = await sweep.tick(membership().shards);
      return recomputed > 0 ? 0 : periodMs;
    },
  };
}
