import { limits } from "@carillon/contract";
import type { Page, PageRequest } from "@carillon/engine";
import { pageTokenOf, readPageToken, type ReadPlace } from "./paging.js";

interface PageQuery {
  readonly page_size?: number;
  readonly page_token?: string;
  readonly order_by?: string;
}

/** `list` names the list and its filter: tokens of one do not work in another. */
export function pageRequest(query: PageQuery, list: readonly unknown[], readPlace?: ReadPlace): PageRequest {
  const pageSize = Math.min(query.page_size ?? limits.defaultPageSize, limits.pageSize);
  const order = { pageSize, ...(isOldestFirst(query) && { oldestFirst: true }) };
  if (query.page_token === undefined) return order;
  return { ...order, after: readPageToken(query.page_token, list, readPlace) };
}

export function nextPageToken({ next }: Page<unknown>, list: readonly unknown[]): string | null {
  return next === null ? null : pageTokenOf(next, list);
}

/** What belongs to a list's name because tokens of one order do not work in another. */
export function orderOf(query: PageQuery): readonly string[] {
  return isOldestFirst(query) ? ["oldest_first"] : [];
}

function isOldestFirst({ order_by: order }: PageQuery): boolean {
  return order === "created_at asc";
}
