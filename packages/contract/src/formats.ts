/**
 * The formats of texts that a parser of core reads. The document explains them; the checker leaves these texts to their readers,
 * whose errors have codes of their own and say more than the pattern.
 */
export const textFormats = {
  "date-time":
    "RFC 3339 with an offset or Z; the seconds may be left out. Years 0001 to 9999; no leap seconds, no hour 24",
  "local-date-time": "As date-time; beside a time_zone the offset may be left out",
  "carillon-duration":
    "Units from the longest to the shortest: w, d, h, m, s, ms, as in 1h30m; or ISO 8601 without months and years, as in PT1H30M. " +
    "At most 36525d. x-minimum-duration and x-maximum-duration are the bounds of the field",
  cron:
    "Five fields, or six with seconds first, or a macro such as @daily. It must match some day of the calendar: 0 0 30 2 * is " +
    "refused",
  "time-zone": "The IANA name of a time zone, such as Europe/Paris; no offsets and no abbreviations",
  cel: "A condition in the Common Expression Language",
  template: "A text with placeholders such as {payload.customer.id}; {{ and }} stand for the braces themselves",
  "label-selector": "Conditions separated by commas: a=b, a!=b, a in (b,c), a notin (b,c), a, !a",
  statuses: "Words separated by commas, in upper or lower case",
  "event-types": "Types of events or their groups, separated by commas",
  "carillon-id": "The id of a thing: its prefix, an underscore and 26 characters; or its UUID",
  "job-name": "A job by its id, or by @ and its key",
  "page-token": "A token from an earlier answer of the same list with the same filter",
} as const;

/** Whether the reader of a text with this format checks it. */
export function isReadByParser(format: string | undefined): boolean {
  return format !== undefined && Object.hasOwn(textFormats, format);
}
