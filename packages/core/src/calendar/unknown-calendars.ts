import { CarillonError, type ErrorItem } from "../errors/carillon-error.js";
import type { CalendarRule } from "../schedule/spec.js";
import { similarWord } from "../spelling/similar-word.js";

/** Throws `calendar_unknown` for names of a schedule that are not among the namespace's calendars. Pointers are within the job. */
export function requireCalendars(rule: CalendarRule, known: readonly string[]): void {
  const items = (["exclude", "only"] as const).flatMap((list) =>
    (rule[list] ?? []).flatMap((name, index): ErrorItem[] => {
      if (known.includes(name)) return [];
      const pointer = `/schedule/calendars/${list}/${index}`;
      return [{ pointer, code: "calendar_unknown", detail: unknownCalendar(name, known) }];
    }),
  );
  const [first] = items;
  if (first !== undefined) throw new CarillonError("calendar_unknown", `${first.pointer}: ${first.detail}`, { items });
}

function unknownCalendar(name: string, known: readonly string[]): string {
  const meant = similarWord(name, known);
  if (meant !== undefined) return `there is no calendar "${name}"; did you mean ${meant}?`;
  const some = known.length === 0 ? "this namespace has none" : `there are ${known.slice(0, 10).join(", ")}`;
  return `there is no calendar "${name}"; ${some}`;
}
