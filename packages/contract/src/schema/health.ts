import { Type, type Static } from "typebox";
import { stringEnum } from "./string-enum.js";

export const Alive = Type.Object({ status: stringEnum(["ok"]) }, { title: "Alive", additionalProperties: false });

export const Readiness = Type.Object(
  {
    status: stringEnum(["ready", "not_ready"]),
    checks: Type.Array(
      Type.Object({ name: Type.String(), ok: Type.Boolean(), detail: Type.String() }, { additionalProperties: false }),
    ),
  },
  { title: "Readiness", additionalProperties: false, description: "Every check, with the reason where one fails" },
);

export const Version = Type.Object(
  { name: Type.String(), version: Type.String(), api: Type.String({ examples: ["v1"] }), node: Type.String() },
  { title: "Version", additionalProperties: false },
);

export type Alive = Static<typeof Alive>;
export type Readiness = Static<typeof Readiness>;
export type Version = Static<typeof Version>;
