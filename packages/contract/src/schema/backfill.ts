import { Type, type Static } from "typebox";
import { backfillDefaults, backfillLimits } from "./limits.js";
import { NextPageToken } from "./paging.js";
import { Count, InstantText, Timestamp } from "./scalars.js";
import { nullable, stringEnum } from "./string-enum.js";

const { leastPerSecond, perSecond, concurrency } = backfillLimits;

export const JobBackfill = Type.Object(
  {
    from: InstantText("The first instant that counts"),
    to: Type.Optional(InstantText("The last instant that counts; now by default, and not later")),
    dry_run: Type.Optional(Type.Boolean({ description: "Only says how many occurrences the range has" })),
    per_second: Type.Optional(
      Type.Number({
        minimum: leastPerSecond,
        maximum: perSecond,
        default: backfillDefaults.perSecond,
        description: "Runs made in a second, at most",
      }),
    ),
    concurrency: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: concurrency,
        default: backfillDefaults.concurrency,
        description: "Runs of this backfill that are live at the same time, at most",
      }),
    ),
    repeat: Type.Optional(Type.Boolean({ description: "Also instants that have a run already" })),
    force: Type.Optional(Type.Boolean({ description: "Whatever the job's overlap policy says" })),
  },
  {
    title: "JobBackfill",
    additionalProperties: false,
    examples: [{ from: "2026-11-01T00:00:00Z", to: "2026-11-11T23:59:59Z", dry_run: true }],
  },
);

const Total = Count("Occurrences of the range, by the rules that were in force then; those that ran are counted too");

export const BackfillCount = Type.Object(
  { total: Total, dry_run: Type.Literal(true, { description: "Nothing was written" }) },
  { title: "BackfillCount", additionalProperties: false },
);

export const Backfill = Type.Object(
  {
    id: Type.String({ examples: ["bkf_01k9zq3v5e0r8t2b7n4m6x1c9d"] }),
    job_id: Type.String({ examples: ["job_01k9zq3v5e0r8t2b7n4m6x1c9d"] }),
    state: stringEnum(["running", "done", "aborted"], {
      description: "done: every instant is dealt with; the last runs may still be live",
    }),
    reason: nullable(Type.String({ description: "Why it was aborted" })),
    from: Timestamp,
    to: Timestamp,
    total: Total,
    made: Count("Runs made"),
    passed: Count("Instants left out because they ran"),
    skipped: Count("Instants left out by the overlap policy"),
    through: nullable(
      Type.Unsafe<string>({ ...Timestamp, description: "Dealt with up to here; null at the beginning" }),
    ),
    per_second: Type.Number(),
    concurrency: Type.Integer(),
    repeat: Type.Boolean(),
    force: Type.Boolean(),
    actor: nullable(Type.String({ description: "Who asked for it, where that is known" })),
    created_at: Timestamp,
    finished_at: nullable(Timestamp),
  },
  { title: "Backfill", additionalProperties: false, description: "Runs being made for instants of the past" },
);

export const BackfillList = Type.Object(
  { backfills: Type.Array(Backfill), next_page_token: NextPageToken },
  { title: "BackfillList", additionalProperties: false },
);

export type JobBackfill = Static<typeof JobBackfill>;
export type BackfillCount = Static<typeof BackfillCount>;
export type Backfill = Static<typeof Backfill>;
export type BackfillList = Static<typeof BackfillList>;
