import { limits } from "@carillon/contract";
import type { Page, PageRequest } from "@carillon/engine";
import { pageTokenOf, readPageToken, type ReadPlace } from "../page-token.js";

interface PageQuery {
  readonly page_size?: number;
  readonly page_token?: string;
}

/** `list` names the list and its filter: tokens of one do not work in another. */
export function pageRequest(query: PageQuery, list: readonly unknown[], readPlace?: ReadPlace): PageRequest {
  const pageSize = Math.min(query.page_size ?? limits.defaultPageSize, limits.pageSize);
  if (query.page_token === undefined) return { pageSize };
  return { pageSize, after: readPageToken(query.page_token, list, readPlace) };
}

export function nextPageToken({ next }: Page<unknown>, list: readonly unknown[]): string | null {
  return next === null ? null : pageTokenOf(next, list);
}
