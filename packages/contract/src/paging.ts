import { type TProperties, type Static, Type } from "typebox";
import { limits } from "./bounds.js";
import { object, Count, nullable, stringEnum, closed } from "./fields.js";

export const NextPageToken = nullable(
  Type.String({ description: "Send it as page_token for the next page; null on the last" }),
);

export const paging = {
  page_size: Type.Optional(
    Type.Integer({
      minimum: 1,
      default: limits.defaultPageSize,
      description: `How many at most; more than ${limits.pageSize} counts as ${limits.pageSize}`,
    }),
  ),
  page_token: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: limits.pageTokenLength,
      description: "From the page before; only with the same filter",
    }),
  ),
};

export const totalQuery = stringEnum(["estimate", "exact"], {
  description:
    "Says how many there are in all: by an estimate, which costs nothing, or counted, which ends at 100,000. Without it nothing is said",
});

export const Total = object(
  "Total",
  {
    count: Count("How many there are"),
    accuracy: stringEnum(["exact", "estimate", "at_least"], {
      description: "at_least: there are more than are counted",
    }),
  },
  { description: "Of the list, where it was asked for" },
);

/** For lists without filters. */
export const PageQuery = closed(paging);
export type PageQuery = Static<typeof PageQuery>;

/** The answer of a list: one page of it. */
export function pageOf<Items extends TProperties>(title: string, items: Items) {
  return object(title, { ...items, next_page_token: NextPageToken });
}
