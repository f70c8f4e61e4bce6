import { timeOfUuid, uuidV7Of } from "@carillon/core";
import { type HistoryDay, idsEnd } from "./history-days.js";
import type { ListPlace, Looked } from "./list-direction.js";
import { type ListOrder, orderOf } from "./list-order.js";

const lowestId = "00000000-0000-0000-0000-000000000000";

/** What was found for a page in some of the days that it may have rows in, and how far it reaches at most. */
export class PageSoFar<Row extends { readonly id: string }> {
  readonly #place: ListPlace;
  readonly #order: ListOrder;
  #rows: readonly Row[] = [];
  #edge: string | null;

  constructor(place: ListPlace) {
    this.#place = place;
    this.#edge = place.until ?? null;
    this.#order = orderOf(place.direction);
  }

  /** Nothing beyond this id comes into the page. null: nothing is known to lie beyond it. */
  get edge(): string | null {
    return this.#edge;
  }

  /** What one look found. A page that is full ends with its last row, one that was stopped where it was stopped. */
  add({ rows, edge }: Looked<Row>): void {
    this.#cut(this.#order.nearer(this.#edge, edge), [...this.#rows, ...rows]);
  }

  /** Those of the days that may hold rows of the page. */
  reached(days: readonly HistoryDay[]): HistoryDay[] {
    const edge = this.#edge;
    return days.filter((day) => edge === null || !this.#order.isBefore(edge, this.#nearestIn(day)));
  }

  /** Ends the page before what these days hold. False: it would be no farther than where it began. */
  endBefore(days: readonly HistoryDay[]): boolean {
    const edge = days
      .map((day) => this.#nearestIn(day))
      .reduce<string | null>((nearest, id) => this.#order.nearer(nearest, id), null);
    const { after } = this.#place;
    if (edge === null || (after !== null && !this.#order.isBefore(after, edge))) return false;
    this.#cut(this.#order.nearer(this.#edge, edge), this.#rows);
    return true;
  }

  looked(): Looked<Row> {
    return { rows: this.#rows, edge: this.#edge };
  }

  #cut(edge: string | null, rows: readonly Row[]): void {
    const page = this.#order.upTo(edge, rows, this.#place.limit);
    this.#rows = page.rows;
    this.#edge = page.edge;
  }

  /** An id before all that a day may hold, in the list's order. */
  #nearestIn(day: HistoryDay): string {
    if (this.#place.direction === "newest_first") return uuidV7Of(idsEnd(day), 0, 0, 0);
    return day.firstId === null ? lowestId : uuidV7Of(Math.max(0, timeOfUuid(day.firstId) - 1), 0, 0, 0);
  }
}
