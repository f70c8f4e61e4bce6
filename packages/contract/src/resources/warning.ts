import { type Static, Type } from "typebox";
import { object, Timestamp } from "../fields.js";

/** A call with warnings has taken effect. */
export const Warning = object(
  "Warning",
  { code: Type.String(), detail: Type.String(), at: Type.Optional(Timestamp) },
  { description: "A sign that an accepted definition may not do what was intended" },
);
export type Warning = Static<typeof Warning>;

export const BatchWarnings = Type.Array(Warning, {
  description: "Such as tasks that no worker serves, each warning once for all items",
});
