import { createHash } from "node:crypto";
import { limits } from "@carillon/contract";
import { canonicalUuid } from "@carillon/core";
import type { Page, PageRequest } from "@carillon/engine";
import { refused } from "./errors.js";
import { type ApiResponse, ok } from "./handler.js";

/**
 * A page token is the position of the last row in its list (mostly the row's id), bound to the list and its filter: a token of another
 * filter would continue no page that the caller has seen. It is opaque, not secret: a forged token is only another position in the list.
 */
export function pageTokenOf(after: string, list: unknown): string {
  return Buffer.from(`${fingerprint(list)}.${after}`).toString("base64url");
}

/** Validates a position, in the form that the list's reader takes; null for an invalid one. */
export type ReadPosition = (text: string) => string | null;

function readPageToken(token: string, list: unknown, readPosition: ReadPosition = canonicalUuid): string {
  const text = Buffer.from(token, "base64url").toString("utf8");
  const dot = text.indexOf(".");
  const mark = text.slice(0, Math.max(dot, 0));
  const position = dot === -1 ? null : readPosition(text.slice(dot + 1));
  if (position === null) throw refused("?page_token", "page_token_invalid", "must be a next_page_token of this list");
  if (mark !== fingerprint(list))
    throw refused("?page_token", "page_token_invalid", "belongs to a list with another filter; leave it out");
  return position;
}

/** `list` holds everything that determines the rows; callers write its members in a fixed order. */
function fingerprint(list: unknown): string {
  return createHash("sha256").update(JSON.stringify(list)).digest("base64url").slice(0, 16);
}

interface PageQuery {
  readonly page_size?: number;
  readonly page_token?: string;
  readonly order_by?: string;
}

/** `list` names the list and its filter: a token of one is refused in another. */
export function pageRequest(query: PageQuery, list: readonly unknown[], readPosition?: ReadPosition): PageRequest {
  const pageSize = Math.min(query.page_size ?? limits.defaultPageSize, limits.pageSize);
  const order = { pageSize, ...(isOldestFirst(query) && { oldestFirst: true }) };
  if (query.page_token === undefined) return order;
  return { ...order, after: readPageToken(query.page_token, list, readPosition) };
}

export function nextPageToken({ next }: Page<unknown>, list: readonly unknown[]): string | null {
  return next === null ? null : pageTokenOf(next, list);
}

/** Responds with one page of a list: `name` is its field, `scope` is everything else that determines its rows. */
export function listOf<Row>(name: string, toJson: (row: Row) => unknown, readPosition?: ReadPosition) {
  return async (
    query: PageQuery,
    scope: readonly unknown[],
    load: (page: PageRequest) => Promise<Page<Row>>,
  ): Promise<ApiResponse> => {
    const list = [name, ...scope];
    const page = await load(pageRequest(query, list, readPosition));
    return ok({ [name]: page.rows.map((row) => toJson(row)), next_page_token: nextPageToken(page, list) });
  };
}

/** The part of `list` that names the order: a token of one order is refused in another. */
export function orderOf(query: PageQuery): readonly string[] {
  return isOldestFirst(query) ? ["oldest_first"] : [];
}

function isOldestFirst({ order_by: order }: PageQuery): boolean {
  return order === "created_at asc";
}
