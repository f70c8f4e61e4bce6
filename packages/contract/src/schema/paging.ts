import { Type } from "typebox";
import { limits } from "./limits.js";
import { nullable } from "./string-enum.js";

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
