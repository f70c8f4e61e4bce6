import { type Static, type TProperties, Type } from "typebox";
import { limits } from "./bounds.js";
import { closed, Count, nullable, object, stringEnum, Text } from "./fields.js";

export const NextPageToken = nullable(Text("Send it as page_token to get the next page; null on the last page"));

export const paging = {
  page_size: Type.Optional(
    Type.Integer({
      minimum: 1,
      default: limits.defaultPageSize,
      description: `The largest number of items; more than ${limits.pageSize} counts as ${limits.pageSize}`,
    }),
  ),
  page_token: Type.Optional(
    Type.String({
      format: "page-token",
      minLength: 1,
      maxLength: limits.pageTokenLength,
      "x-carillon-rules": [{ code: "page_token_invalid", rule: "The token is of this list and this filter" }],
      description: "The next_page_token of the previous page; the filter must be the same",
    }),
  ),
};

export const totalQuery = stringEnum(["estimate", "exact"], {
  description:
    "Includes the total number of items: an estimate, which is cheap, or an exact count, which stops at 100,000",
});

export const Total = object(
  "Total",
  {
    count: Count("The number of items"),
    accuracy: stringEnum(["exact", "estimate", "at_least"], {
      description: "at_least: there are more items than were counted",
    }),
  },
  { description: "The total number of items, if it was requested" },
);

/** For lists without filters. */
export const PageQuery = closed(paging);
export type PageQuery = Static<typeof PageQuery>;

/** The answer of a list: one page of it. */
export function pageOf<Items extends TProperties>(title: string, items: Items) {
  return object(title, { ...items, next_page_token: NextPageToken });
}
