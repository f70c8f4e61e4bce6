/** The offset of a zone at an instant, both in seconds; positive east of Greenwich. */
export type OffsetSource = (utcSeconds: number) => number;

/**
 * Reads offsets from the platform's zone data. One call costs about a microsecond, so it only serves to fill an
 * OffsetTable. Seconds are read too: local mean time before the railways was not a whole minute.
 */
export function intlOffsets(canonicalName: string): OffsetSource {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: canonicalName,
    hour: "numeric",
    timeZoneName: "longOffset",
  });
  return (utcSeconds) => parseLongOffset(format.format(utcSeconds * 1000));
}

/** Reads the end of "7 PM GMT", "7 PM GMT-05:00" or "1 PM GMT-04:56:02". */
function parseLongOffset(text: string): number {
  const at = text.lastIndexOf("GMT") + 3;
  if (at === text.length) return 0;
  const sign = text.charCodeAt(at) === 0x2b ? 1 : -1;
  const seconds = at + 7 < text.length ? twoDigits(text, at + 7) : 0;
  return sign * (twoDigits(text, at + 1) * 3600 + twoDigits(text, at + 4) * 60 + seconds);
}

function twoDigits(text: string, at: number): number {
  return (text.charCodeAt(at) - 0x30) * 10 + text.charCodeAt(at + 1) - 0x30;
}
