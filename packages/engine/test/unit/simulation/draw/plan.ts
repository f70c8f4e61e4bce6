import { type Instant, type MaintenanceWindow, type MissedChoice, missedChoices } from "@carillon/core";
import * as fc from "fast-check";
import { chance, draw, spans } from "./arbitraries.js";
import { dayMs, hourMs, minuteMs, secondMs, yearEnd, yearStart } from "./year.js";

/** How a statement fails: it never arrives, its answer never arrives, or it arrives much later; or the node dies with it. */
export type StatementFault = "before" | "after" | "stall" | "crash_before" | "crash_after";

/** Something that happens in the simulated year. `node` and `job` are numbers, to be taken modulo how many there are. */
export type Incident =
  | { readonly kind: "outage"; readonly forMs: number }
  | { readonly kind: "crash" | "stop"; readonly node: number; readonly forMs: number }
  /** Shards go to a node; who had them learns it so much later. */
  | { readonly kind: "move"; readonly node: number; readonly shards: readonly number[]; readonly zombieMs: number }
  | { readonly kind: "fault"; readonly node: number; readonly how: StatementFault; readonly forMs: number }
  | { readonly kind: "lock"; readonly jobs: readonly number[]; readonly forMs: number }
  | { readonly kind: "skew"; readonly node: number; readonly byMs: number; readonly forMs: number }
  | { readonly kind: "clock_back"; readonly byMs: number }
  | { readonly kind: "windows"; readonly windows: readonly MaintenanceWindow[]; readonly isHinted: boolean }
  | {
      readonly kind: "pause";
      readonly job: number;
      readonly forMs: number;
      readonly missed: MissedChoice;
      readonly ends: boolean;
    }
  | { readonly kind: "edit"; readonly job: number; readonly rule: number; readonly isPlain: boolean }
  | { readonly kind: "cancel"; readonly job: number }
  | { readonly kind: "poison"; readonly job: number; readonly forMs: number; readonly missed: MissedChoice };

export type PlannedIncident = Incident & { readonly at: Instant };

/** How many of each kind there are in a year. */
export type Frequencies = Readonly<Record<Incident["kind"], number>>;

export const usualYear: Frequencies = {
  outage: 12,
  crash: 50,
  stop: 30,
  move: 150,
  fault: 900,
  lock: 300,
  skew: 40,
  clock_back: 6,
  windows: 25,
  pause: 200,
  edit: 120,
  cancel: 60,
  poison: 40,
};

export const quietYear: Frequencies = {
  outage: 0,
  crash: 0,
  stop: 0,
  move: 0,
  fault: 0,
  lock: 0,
  skew: 0,
  clock_back: 0,
  windows: 0,
  pause: 0,
  edit: 0,
  cancel: 0,
  poison: 0,
};

const any = fc.nat({ max: 1_000_000 });
const missed = fc.constantFrom(...missedChoices);
const instants = fc.integer({ min: yearStart + hourMs, max: yearEnd - hourMs });

const scopes = fc.constantFrom<MaintenanceWindow["scope"]>(
  { queue: "mail" },
  { queue: "billing" },
  { labels: { team: "red" } },
  { queue: "reports", labels: { team: "blue" } },
  { namespace: "default" },
);
const times = fc.oneof(
  fc
    .tuple(instants, spans(minuteMs, 3 * dayMs))
    .map(([from, length]) => ({ kind: "once", from, to: from + length }) as const),
  fc
    .tuple(
      fc.constantFrom("0 2 * * SUN", "30 1 * * *", "0 */6 * * *"),
      fc.constantFrom("UTC", "Europe/Berlin"),
      spans(minuteMs, 3 * hourMs),
    )
    .map(([cron, timeZone, durationMs]) => ({ kind: "recurring", cron, timeZone, durationMs }) as const),
);
const windows = fc
  .array(fc.record({ mode: fc.constantFrom("hold" as const, "skip" as const), scope: scopes, time: times }), {
    maxLength: 3,
  })
  .map((drawn) => drawn.map((one, index): MaintenanceWindow => ({ name: `window ${index}`, ...one })));

const incidents: { readonly [Kind in Incident["kind"]]: fc.Arbitrary<Incident & { kind: Kind }> } = {
  outage: fc.record({ kind: fc.constant("outage"), forMs: spans(minuteMs, 3 * dayMs) }),
  crash: fc.record({ kind: fc.constant("crash"), node: any, forMs: spans(10 * secondMs, dayMs) }),
  stop: fc.record({ kind: fc.constant("stop"), node: any, forMs: spans(10 * secondMs, dayMs) }),
  move: fc.record({
    kind: fc.constant("move"),
    node: any,
    shards: fc.array(any, { minLength: 1, maxLength: 8 }),
    zombieMs: fc.tuple(chance(50), spans(secondMs, hourMs)).map(([isNotified, span]) => (isNotified ? 0 : span)),
  }),
  fault: fc.record({
    kind: fc.constant("fault"),
    node: any,
    how: fc.constantFrom("before", "before", "after", "after", "stall", "crash_before", "crash_after"),
    forMs: spans(secondMs, hourMs),
  }),
  lock: fc.record({
    kind: fc.constant("lock"),
    jobs: fc.array(any, { minLength: 1, maxLength: 20 }),
    forMs: spans(secondMs, 10 * minuteMs),
  }),
  skew: fc.record({
    kind: fc.constant("skew"),
    node: any,
    byMs: fc.integer({ min: -2 * hourMs, max: 2 * hourMs }),
    forMs: spans(minuteMs, 6 * hourMs),
  }),
  clock_back: fc.record({ kind: fc.constant("clock_back"), byMs: spans(secondMs, hourMs) }),
  windows: fc.record({ kind: fc.constant("windows"), windows, isHinted: fc.boolean() }),
  pause: fc.record({
    kind: fc.constant("pause"),
    job: any,
    forMs: spans(minuteMs, 30 * dayMs),
    missed,
    ends: fc.boolean(),
  }),
  edit: fc.record({ kind: fc.constant("edit"), job: any, rule: any, isPlain: chance(25) }),
  cancel: fc.record({ kind: fc.constant("cancel"), job: any }),
  poison: fc.record({ kind: fc.constant("poison"), job: any, forMs: spans(hourMs, 3 * dayMs), missed }),
};

/** What happens in a year, in order. */
export function drawPlan(often: Frequencies, seed: number): PlannedIncident[] {
  const kinds = Object.keys(incidents) as Incident["kind"][];
  const drawn = kinds.flatMap((kind, index) => {
    const timed = fc.tuple(instants, incidents[kind] as fc.Arbitrary<Incident>);
    return draw(timed, often[kind], seed + 1 + index).map(([at, incident]) => ({ ...incident, at }));
  });
  return drawn.toSorted((a, b) => a.at - b.at);
}
