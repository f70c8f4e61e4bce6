import { errorCatalogue, type ErrorCode, isErrorCode } from "@carillon/core";
import { type Static, Type } from "typebox";
import { object, stringEnum, Text } from "../fields.js";

/** Sorted, so that the published list does not depend on the order of the catalogue. */
export const errorCodes: readonly ErrorCode[] = Object.freeze(Object.keys(errorCatalogue).filter(isErrorCode).sort());

const Finding = object("Finding", {
  pointer: Type.String({
    description: "A JSON pointer into the body, or ? followed by the name of a query parameter",
    examples: ["/schedule/cron", "?page_size"],
  }),
  code: Type.String(),
  detail: Type.String(),
});
export type Finding = Static<typeof Finding>;

/** RFC 9457. */
export const Problem = object("Problem", {
  type: Text("Always about:blank; the code identifies the problem"),
  title: Type.String(),
  status: Type.Integer({ minimum: 400, maximum: 599 }),
  code: stringEnum(errorCodes, { description: "A stable code to decide by" }),
  detail: Text("What is wrong, and what would be right"),
  errors: Type.Array(Finding, { description: "Every fault that was found" }),
  request_id: Type.String(),
  retryable: Type.Boolean({ description: "Whether the same request may succeed later" }),
});
export type Problem = Static<typeof Problem>;
