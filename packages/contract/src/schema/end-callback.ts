import { callbackMoments, callbackParts } from "@carillon/core";
import { Type, type Static } from "typebox";
import { callbackLimits, limits, namePattern, webAddressPattern } from "./limits.js";
import { stringEnum } from "./string-enum.js";

/** dead is another word for failed: a run that failed for good is a dead letter. */
const Moment = stringEnum([...callbackMoments, "dead"]);

export const On = Type.Array(Moment, {
  minItems: 1,
  maxItems: callbackLimits.moments,
  description: "How the run may have ended; dead says the same as failed",
  examples: [["failed"]],
});

export const Include = Type.Array(stringEnum(callbackParts), {
  maxItems: callbackLimits.moments,
  description: "What the message carries beside the facts; error when left out",
});

export const TargetUrl = Type.String({
  minLength: 1,
  maxLength: callbackLimits.urlLength,
  pattern: webAddressPattern,
  description: "Where messages are posted to",
  examples: ["https://example.com/hooks/carillon"],
});

export const Callback = Type.Object(
  {
    on: Type.Optional(On),
    url: Type.Optional(TargetUrl),
    task: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: limits.nameLength,
        pattern: namePattern,
        description: "A task that is run with the message as its payload, in the queue of the run",
        examples: ["report.broken"],
      }),
    ),
    include: Type.Optional(Include),
  },
  {
    title: "Callback",
    additionalProperties: false,
    description: "Whom to tell of the end of a run: url or task. Every end when on is left out",
  },
);

export const Callbacks = Type.Array(Callback, { maxItems: callbackLimits.callbacks });

export type Callback = Static<typeof Callback>;
