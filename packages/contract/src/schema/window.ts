import { Type, type Static } from "typebox";
import { limits } from "./limits.js";
import { NextPageToken } from "./paging.js";
import { DurationText, InstantText, Labels, Timestamp } from "./scalars.js";
import { stringEnum } from "./string-enum.js";

const Mode = stringEnum(["hold", "skip"], {
  description: "hold: fires wait for the end of the window; skip: they go to the ledger",
});
const Queue = Type.String({ minLength: 1, maxLength: limits.nameLength, description: "Jobs of this queue" });
const Cron = Type.String({ minLength: 1, maxLength: limits.cronLength, description: "When it opens, again and again" });

export const WindowPut = Type.Object(
  {
    name: Type.Optional(Type.String({ description: "As in the address" })),
    mode: Mode,
    queue: Type.Optional(Queue),
    labels: Type.Optional(
      Type.Unsafe<Record<string, string>>({ ...Labels, description: "Jobs that have all of these" }),
    ),
    from: Type.Optional(InstantText("It opens once, then")),
    to: Type.Optional(InstantText("and closes then")),
    cron: Type.Optional(Cron),
    time_zone: Type.Optional(
      Type.String({ maxLength: limits.parsedTextLength, description: "Of cron; UTC by default" }),
    ),
    duration: Type.Optional(DurationText("With cron: how long it is open.", "2h")),
  },
  {
    title: "WindowPut",
    additionalProperties: false,
    description:
      "Either from and to, or cron and duration. Without queue and labels it is about every job of the namespace.",
    examples: [{ mode: "hold", queue: "mail", cron: "0 2 * * SUN", time_zone: "Europe/Paris", duration: "2h" }],
  },
);

export const Window = Type.Object(
  {
    name: Type.String(),
    mode: Mode,
    queue: Type.Optional(Type.String()),
    labels: Type.Optional(Type.Record(Type.String(), Type.String())),
    from: Type.Optional(Timestamp),
    to: Type.Optional(Timestamp),
    cron: Type.Optional(Type.String()),
    time_zone: Type.Optional(Type.String()),
    duration: Type.Optional(Type.String()),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: "Window", additionalProperties: false, description: "A maintenance window" },
);

export const WindowList = Type.Object(
  { maintenance_windows: Type.Array(Window), next_page_token: NextPageToken },
  { title: "WindowList", additionalProperties: false },
);

export type WindowPut = Static<typeof WindowPut>;
export type Window = Static<typeof Window>;
export type WindowList = Static<typeof WindowList>;
