import { createHash } from "node:crypto";
import { canonicalUuid, CarillonError } from "@carillon/core";

/**
 * A page token is the last row's id, bound to the list it came from: with another filter it would show a page that is a
 * continuation of nothing. It is opaque, not secret; what it can be forged into is only another place in the same list.
 */
export function pageTokenOf(after: string, list: unknown): string {
  return Buffer.from(`${fingerprint(list)}.${after}`).toString("base64url");
}

/** The id to continue after. */
export function readPageToken(token: string, list: unknown): string {
  const [mark, after, ...rest] = Buffer.from(token, "base64url").toString("utf8").split(".");
  const uuid = rest.length === 0 ? canonicalUuid(after ?? "") : null;
  if (uuid === null)
    throw new CarillonError("page_token_invalid", "page_token must be a next_page_token of this list.");
  if (mark !== fingerprint(list)) {
    throw new CarillonError(
      "page_token_invalid",
      "page_token came from a list with another filter; begin without one.",
    );
  }
  return uuid;
}

/** `list` holds what determines the rows: its members are written in a fixed order by the callers. */
function fingerprint(list: unknown): string {
  return createHash("sha256").update(JSON.stringify(list)).digest("base64url").slice(0, 16);
}
