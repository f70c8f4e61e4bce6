import { timeOfUuid, uuidV7Of, type Instant } from "@carillon/core";
import { dayMs, type HistoryDay } from "./history-days.js";
import type { ListDirection, ListPlace, Looked } from "./list-direction.js";
import { clockSlackMs } from "./run-filter-params.js";

/** Some days one after the other, which one statement looks through. */
export interface Stretch {
  readonly from: Instant;
  readonly before: Instant;
  /** What the stretches after this one hold lies beyond this id in the list's order. null: there are none. */
  readonly beyond: string | null;
}

export interface Walk<Row> {
  readonly place: ListPlace;
  readonly look: (stretch: Stretch) => Promise<Looked<Row>>;
  /** Whether the page has taken so long that it is better short than late. */
  readonly isLate: () => boolean;
}

/** Most pages are full with the first; then the statements grow, so that there are few of them. */
const spans = [3, 3, 8];
const lowestId = "00000000-0000-0000-0000-000000000000";

/**
 * The days in the order in which a list is looked for in them. A run ends after its id was made, and never mind how long after: newest
 * first, a day holds no id from after its end, and is left out where all of its ids come before the page. Oldest first it may hold any
 * id from its first on, and days of which that is not known come first.
 */
export function stretchesOf(days: readonly HistoryDay[], place: ListPlace, mostDays: number): Stretch[] {
  const ordered = place.direction === "newest_first" ? newestFirst(days, place) : oldestFirst(days, place);
  const stretches: Stretch[] = [];
  for (let at = 0; at < ordered.length;) {
    const span = Math.min(spans[stretches.length] ?? mostDays, mostDays);
    const next = endOfStretch(ordered, at, { span, step: place.direction === "newest_first" ? -1 : 1 });
    const starts = ordered.slice(at, next).map((day) => day.start);
    const beyond = next === ordered.length ? null : nearestOf(ordered.slice(next), place.direction);
    stretches.push({ from: Math.min(...starts), before: Math.max(...starts) + dayMs, beyond });
    at = next;
  }
  return stretches;
}

/** As many days as lie within the span and go on in the same direction. */
function endOfStretch(
  ordered: readonly HistoryDay[],
  at: number,
  { span, step }: { span: number; step: 1 | -1 },
): number {
  const first = ordered[at]?.start ?? 0;
  const length = ordered.slice(at + 1).findIndex(({ start }) => {
    const distance = (start - first) * step;
    return distance < 0 || distance >= span * dayMs;
  });
  return length === -1 ? ordered.length : at + 1 + length;
}

function newestFirst(days: readonly HistoryDay[], { after }: ListPlace): HistoryDay[] {
  return days
    .filter(({ firstId }) => after === null || firstId === null || firstId < after)
    .toSorted((a, b) => b.start - a.start);
}

function oldestFirst(days: readonly HistoryDay[], { after }: ListPlace): HistoryDay[] {
  const known = (day: HistoryDay): number => (day.firstId === null ? 0 : 1);
  return days
    .filter((day) => after === null || timeOfUuid(after) < idsEnd(day))
    .toSorted((a, b) => known(a) - known(b) || a.start - b.start);
}

/** No id of a run that ended on this day is from this instant or later. */
function idsEnd({ start }: HistoryDay): Instant {
  return start + dayMs + clockSlackMs;
}

/** An id before all that these days may hold, in the list's order. */
function nearestOf(days: readonly HistoryDay[], direction: ListDirection): string {
  if (direction === "newest_first") return uuidV7Of(Math.max(...days.map(idsEnd)), 0, 0, 0);
  const firsts = days.map(({ firstId }) => (firstId === null ? 0 : timeOfUuid(firstId)));
  const first = Math.min(...firsts);
  return first === 0 ? lowestId : uuidV7Of(first - 1, 0, 0, 0);
}

/**
 * A page from stretch after stretch, until it is full, a look was stopped, or it gets late. It reaches as far as everything was looked
 * at, and says how far that is.
 */
export async function walkStretches<Row extends { readonly id: string }>(
  stretches: readonly Stretch[],
  { place, look, isLate }: Walk<Row>,
): Promise<Looked<Row>> {
  const order = orderOf(place.direction);
  const found: Row[] = [];
  let stop: string | null = null;
  for (const stretch of stretches) {
    const looked = await look(stretch);
    found.push(...looked.rows);
    stop = order.nearer(stop, looked.edge);
    const edge = order.nearer(stop, stretch.beyond);
    const page = order.upTo(edge, found, place.limit);
    const advances = edge !== null && (place.after === null || order.isBefore(place.after, edge));
    const isDone = page.edge !== edge || edge === stop || (advances && isLate());
    if (isDone) return page;
  }
  return order.upTo(stop, found, place.limit);
}

interface Order {
  isBefore(a: string, b: string): boolean;
  /** The nearer of two edges. */
  nearer(a: string | null, b: string | null): string | null;
  /** A page of what is not beyond the edge. A full one ends with its last row. */
  upTo<Row extends { readonly id: string }>(edge: string | null, rows: readonly Row[], limit: number): Looked<Row>;
}

export function orderOf(direction: ListDirection): Order {
  const isBefore = (a: string, b: string): boolean => (direction === "newest_first" ? a > b : a < b);
  return {
    isBefore,
    nearer: (a, b) => (a === null || (b !== null && isBefore(b, a)) ? b : a),
    upTo(edge, found, limit) {
      const whole = found.filter(({ id }) => edge === null || !isBefore(edge, id));
      const rows = whole.toSorted((a, b) => (isBefore(a.id, b.id) ? -1 : 1)).slice(0, limit);
      return { rows, edge: rows.length >= limit ? (rows.at(-1)?.id ?? null) : edge };
    },
  };
}
