import { createHash } from "node:crypto";
import { canonicalUuid, CarillonError } from "@carillon/core";

/**
 * A page token is the last row's place in its list, mostly its id, bound to the list it came from: with another filter it would show a page that is a
 * continuation of nothing. It is opaque, not secret; what it can be forged into is only another place in the same list.
 */
export function pageTokenOf(after: string, list: unknown): string {
  return Buffer.from(`${fingerprint(list)}.${after}`).toString("base64url");
}

/** What may be continued after, in the form that the list's reader takes; null for anything else. */
export type ReadPlace = (text: string) => string | null;

/** Where to continue. */
export function readPageToken(token: string, list: unknown, readPlace: ReadPlace = canonicalUuid): string {
  const text = Buffer.from(token, "base64url").toString("utf8");
  const dot = text.indexOf(".");
  const mark = text.slice(0, Math.max(dot, 0));
  const place = dot === -1 ? null : readPlace(text.slice(dot + 1));
  if (place === null) throw refused("must be a next_page_token of this list");
  if (mark !== fingerprint(list)) throw refused("came from a list with another filter; begin without one");
  return place;
}

function refused(detail: string): CarillonError {
  const [pointer, code] = ["?page_token", "page_token_invalid"] as const;
  return new CarillonError(code, `${pointer}: ${detail}`, { items: [{ pointer, code, detail }] });
}

/** `list` holds what determines the rows: its members are written in a fixed order by the callers. */
function fingerprint(list: unknown): string {
  return createHash("sha256").update(JSON.stringify(list)).digest("base64url").slice(0, 16);
}
