import { timeOfUuid, type Instant } from "@carillon/core";
import { dayMs, dayOf, type HistoryDay, idsEnd, mostDaysAtOnce } from "./history-days.js";
import type { ListPlace, Looked } from "./list-direction.js";
import { PageSoFar } from "./page-so-far.js";

/** Some days one after the other, which one statement looks through. */
export interface Stretch {
  readonly from: Instant;
  readonly before: Instant;
  /** What lies beyond this id in the list's order is not for this page. null: nothing is known to be. */
  readonly until: string | null;
}

export interface Walk<Row> {
  readonly place: ListPlace;
  /** How many of the days in the list's order one statement looks through at most. */
  readonly mostDays: number;
  readonly look: (stretch: Stretch) => Promise<Looked<Row>>;
  /** Whether the page has taken so long that it is better short than late, where so many days have to be looked at in any case. */
  readonly isLate: (daysToCome: number) => boolean;
}

/** Most pages are full with the first; then the statements grow, so that there are few of them. */
const spans = [3, 3, 8];

/**
 * A page from the days of history. A run ends after its id was made, and never mind how long after. So the page is looked for in the
 * list's order first, from its own day on, until it is full, a look was stopped, or it gets late. By then it is known how far it reaches
 * at most, and the days aside, on which runs ended long after they were made, are asked for what lies before that. The page says how
 * far everything was looked at, and that is farther than where it began.
 */
export async function walkDays<Row extends { readonly id: string }>(
  days: readonly HistoryDay[],
  { place, mostDays, look, isLate }: Walk<Row>,
): Promise<Looked<Row>> {
  const { inOrder, aside } = orderedDays(days, place);
  const page = new PageSoFar<Row>(place);
  const lookAt = async (some: readonly HistoryDay[], span: number): Promise<HistoryDay[]> => {
    const length = stretchLength(some, span);
    const starts = some.slice(0, length).map((day) => day.start);
    page.add(await look({ from: Math.min(...starts), before: Math.max(...starts) + dayMs, until: page.edge }));
    return page.reached(some.slice(length));
  };
  let left = page.reached(inOrder);
  for (let turn = 0; left.length > 0; turn++) {
    left = await lookAt(left, Math.min(spans[turn] ?? mostDays, mostDays));
    if (isLate(aside.length) && page.endBefore(left)) break;
  }
  for (left = page.reached(aside); left.length > 0;) {
    left = await lookAt(left, mostDaysAtOnce);
  }
  return page.looked();
}

interface OrderedDays {
  readonly inOrder: HistoryDay[];
  /** These may hold ids from anywhere in the page. */
  readonly aside: HistoryDay[];
}

/**
 * Newest first, a day holds no id from after its end: the days after the page's own stand aside, without those that have no id before
 * it. Oldest first, a day holds no id before its first; the newest, of which that is not known, stand aside.
 */
function orderedDays(days: readonly HistoryDay[], { after, direction }: ListPlace): OrderedDays {
  const ascending = days.toSorted((a, b) => a.start - b.start);
  if (direction === "oldest_first") {
    const beyond = ascending.filter((day) => after === null || timeOfUuid(after) < idsEnd(day));
    return {
      inOrder: beyond.filter(({ firstId }) => firstId !== null),
      aside: beyond.filter(({ firstId }) => firstId === null),
    };
  }
  const ownDay = after === null ? Infinity : dayOf(timeOfUuid(after));
  return {
    inOrder: ascending.filter(({ start }) => start <= ownDay).toReversed(),
    aside: ascending.filter(
      ({ start, firstId }) => start > ownDay && (firstId === null || after === null || firstId < after),
    ),
  };
}

/** How many of the days lie within the span. */
function stretchLength(days: readonly HistoryDay[], span: number): number {
  const first = days[0]?.start ?? 0;
  const beyond = days.findIndex(({ start }) => Math.abs(start - first) >= span * dayMs);
  return beyond === -1 ? days.length : beyond;
}
