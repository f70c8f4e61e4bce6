import { Type } from "typebox";
import { labelKeyPattern, limits, plainNameLength, plainNamePattern, printablePattern } from "./limits.js";

/** In an answer: UTC with milliseconds. */
export const Timestamp = Type.String({
  pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$",
  description: "RFC 3339 in UTC with milliseconds",
  examples: ["2026-11-12T08:30:00.000Z"],
});

/** In a request: any offset. */
export const InstantText = (description: string) =>
  Type.String({ maxLength: limits.parsedTextLength, description, examples: ["2026-11-12T09:30:00+01:00"] });

/** In a filter: a job by its id, or by @ and its key. */
export const JobName = (description: string) =>
  Type.String({ minLength: 1, maxLength: limits.nameLength + 1, description, examples: ["@nightly-report"] });

export const DurationText = (description: string, example: string) =>
  Type.String({
    maxLength: limits.parsedTextLength,
    description: `${description} A duration such as 500ms, 90s, 1h30m, 7d, or ISO 8601.`,
    examples: [example],
  });

const LabelValue = Type.String({ maxLength: limits.labelValueLength, pattern: printablePattern });

/** Emitted with `propertyNames`, so that a wrong key is refused by name. */
export const Labels = Type.Unsafe<Record<string, string>>({
  type: "object",
  additionalProperties: LabelValue,
  propertyNames: { type: "string", pattern: labelKeyPattern, maxLength: limits.labelKeyLength },
  maxProperties: limits.labels,
  description: "Short texts to find things by",
  examples: [{ team: "billing" }],
});

export const OwnerName = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: limits.nameLength,
    pattern: printablePattern,
    description,
    examples: ["u003"],
  });

/** Why someone did something. */
export const Reason = Type.String({
  minLength: 1,
  maxLength: limits.reasonLength,
  pattern: printablePattern,
  description: "Why, for those who look at it later",
  examples: ["the mail provider is down"],
});

export const CalendarName = Type.String({ minLength: 1, maxLength: plainNameLength, pattern: plainNamePattern });

export const Count = (description: string) => Type.Integer({ minimum: 0, description });
export const Milliseconds = (description: string) => Type.Integer({ description });
