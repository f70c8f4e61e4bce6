import type { Instant } from "../time/instant.js";
import { NEVER } from "../zone/instant-range.js";
import type { MergedFire } from "./compiled.js";
import type { FireSequence } from "./fire-sequence.js";
import { startOfDay } from "./local-day.js";
import type { CalendarLayer } from "./removed-fires.js";

/** The fires that a roll merged into a nominal instant, without the one that it stands for. */
export function mergedAt(fires: FireSequence, nominal: Instant): MergedFire[] {
  return fires
    .notesAt(nominal)
    .flatMap((note) => (note.kind === "merged" ? [{ at: note.from, calendar: note.calendar }] : []));
}

/**
 * The same for the nominal instants with from <= nominal <= to, of which at most `most` are asked. A day to which none moves is
 * passed over as a whole: most days are such.
 */
export function mergedFires(
  fires: FireSequence,
  layer: CalendarLayer,
  { from, to, most }: { readonly from: Instant; readonly to: Instant; readonly most: number },
): MergedFire[] {
  const { zone } = layer;
  const merged: MergedFire[] = [];
  let asked = 0;
  let nominal = fires.nextNominal(from - 1);
  while (nominal !== NEVER && nominal <= to && asked < most) {
    const day = zone.localDay(nominal);
    // A jump of the clock can carry what is sent to one day into a neighbour.
    if ([day - 1, day, day + 1].some((near) => layer.movesTo(near))) {
      asked += 1;
      merged.push(...mergedAt(fires, nominal));
      nominal = fires.nextNominal(nominal);
    } else nominal = fires.nextNominal(Math.max(nominal, startOfDay(zone, day + 1) - 1));
  }
  return merged;
}
