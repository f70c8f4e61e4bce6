/**
 * What a wall clock shows, asked of Intl one instant at a time. Slow on purpose: nothing is cached but the formatter,
 * and nothing is shared with the code under test.
 */
const formatters = new Map<string, Intl.DateTimeFormat>();

function formatterFor(timeZone: string): Intl.DateTimeFormat {
  let formatter = formatters.get(timeZone);
  if (formatter === undefined) {
    formatter = new Intl.DateTimeFormat("en-US", {
      timeZone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
    formatters.set(timeZone, formatter);
  }
  return formatter;
}

/** The reading of the zone's wall clock at an instant, as the milliseconds at which UTC would show the same reading. */
export function wallReading(timeZone: string, instant: number): number {
  const shown = formatterFor(timeZone).format(instant);
  const match = /^(\d+)\/(\d+)\/(\d+), (\d+):(\d+):(\d+)$/.exec(shown);
  if (match === null) throw new Error(`Intl shows ${shown}`);
  const [month = 0, day = 0, year = 0, hour = 0, minute = 0, second = 0] = match.slice(1).map(Number);
  return Date.UTC(year, month - 1, day, hour, minute, second);
}
