import { CarillonError, formatInstant, parseDuration } from "@carillon/core";

/** `2h` is two hours ago; everything else is a time, which the server reads. */
export function pastTime(text: string, now: number): string {
  try {
    return formatInstant(now - parseDuration(text));
  } catch (error) {
    if (error instanceof CarillonError) return text;
    throw error;
  }
}
