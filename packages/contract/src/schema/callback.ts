import { Type, type Static } from "typebox";
import { limits, workerLimits } from "./limits.js";
import { DurationText } from "./scalars.js";
import { stringEnum } from "./string-enum.js";

export const CallbackBody = Type.Object(
  {
    status: Type.Optional(
      stringEnum(["succeeded", "failed"], { description: "How the work ended; succeeded when nothing is said" }),
    ),
    output: Type.Optional(Type.Unknown({ description: "Of a success: the run's output, any JSON" })),
    error: Type.Optional(
      Type.Object(
        {
          type: Type.Optional(Type.String({ minLength: 1, maxLength: limits.nameLength })),
          message: Type.String({ maxLength: workerLimits.errorLength }),
          retryable: Type.Optional(
            Type.Boolean({ description: "Whether another try may help; true when nothing is said" }),
          ),
        },
        { title: "CallbackError", additionalProperties: false },
      ),
    ),
    retry_after: Type.Optional(DurationText("Of a failure: no earlier try.", "30s")),
  },
  { title: "CallbackBody", additionalProperties: false },
);

export type CallbackBody = Static<typeof CallbackBody>;
