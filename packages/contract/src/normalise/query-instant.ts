import { type Instant, parseInstant } from "@carillon/core";

/** In an address a plus is a blank, which no time has before its offset: 2026-01-01T00:00:00+01:00 as people type it. */
export function queryInstant(text: string): Instant {
  return parseInstant(text.replace(/(?<=T\S+) (?=\d\d:\d\d$)/, "+"));
}
