import { CarillonError } from "@carillon/core";

/** Versions are four-byte integers; a larger one is as good as any that the job does not have. */
const largestVersion = 2_147_483_647;

/** The version that a conditional call is meant for. Compressing proxies make an ETag weak, which changes nothing here. */
export function ifVersionOf(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const found = /^\s*(?:W\/)?"v(\d{1,20})"\s*$/.exec(header);
  if (found !== null) return Math.min(Number(found[1]), largestVersion);
  const shown = JSON.stringify(header.length <= 60 ? header : `${header.slice(0, 57)}…`);
  const detail = `If-Match must be the one ETag of an answer, such as "v7" with its quotes, not ${shown}`;
  throw new CarillonError("field_invalid", detail, { items: [{ pointer: "If-Match", code: "field_invalid", detail }] });
}
