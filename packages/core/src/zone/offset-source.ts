/** The offset of a zone at an instant, both in seconds; positive east of Greenwich. */
export type OffsetSource = (utcSeconds: number) => number;

/** A zone as the platform knows it. */
interface PlatformZone {
  readonly canonicalName: string;
  /** One call costs about a microsecond, so it only serves to fill an OffsetTable. */
  readonly offsetAt: OffsetSource;
}

/** Finds a zone in the platform's data by any name that it takes; null for the others. */
export function openPlatformZone(name: string): PlatformZone | null {
  const format = formatFor(name);
  if (format === null) return null;
  return {
    canonicalName: format.resolvedOptions().timeZone,
    offsetAt: (utcSeconds) => parseLongOffset(format.format(utcSeconds * 1000)),
  };
}

function formatFor(timeZone: string): Intl.DateTimeFormat | null {
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone, hour: "numeric", timeZoneName: "longOffset" });
  } catch {
    return null;
  }
}

/** Reads the end of "7 PM GMT", "7 PM GMT-05:00" or "1 PM GMT-04:56:02", as local mean time had it. */
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
