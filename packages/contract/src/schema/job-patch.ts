import { Type, type Static } from "typebox";
import type { BreakerRequest } from "./breaker.js";
import { JobCreate } from "./job-create.js";
import { mergePatchOf, removable } from "./merge-patch.js";
import type { RetryRequest } from "./retry.js";
import type { Concurrency, RateLimit } from "./run-limits.js";
import type { Sla } from "./run-policy.js";
import type { ScheduleRequest } from "./schedule.js";

const { properties: field } = JobCreate;

/** In our own spelling only: what is changed was answered in it. */
export const JobPatch = Type.Object(
  {
    task: Type.Optional(Type.Unsafe<string>({ ...field.task })),
    payload: Type.Optional(Type.Unknown({ description: "Replaced whole, never merged; null is a payload" })),
    schedule: Type.Optional(
      Type.Unsafe<Static<ReturnType<typeof mergePatchOf<ScheduleRequest>>>>({
        ...mergePatchOf<ScheduleRequest>(field.schedule),
        description: "Merged. Another kind (cron, every, at …) takes the place of the present one",
      }),
    ),
    key: Type.Optional(Type.String({ description: "Cannot be changed: only the present one is taken" })),
    retry: Type.Optional(removable<RetryRequest>(field.retry)),
    timeout: Type.Optional(removable<string>(field.timeout)),
    deadline: Type.Optional(removable<string>(field.deadline)),
    sla: Type.Optional(removable<Sla>(field.sla)),
    guarantee: Type.Optional(removable<Static<typeof field.guarantee>>(field.guarantee)),
    callbacks: Type.Optional(removable<Static<typeof field.callbacks>>(field.callbacks)),
    requires: Type.Optional(removable<Record<string, string>>(field.requires)),
    concurrency: Type.Optional(removable<Concurrency>(field.concurrency)),
    rate_limit: Type.Optional(removable<RateLimit>(field.rate_limit)),
    ordering_key: Type.Optional(removable<string>(field.ordering_key)),
    ordering_on_failure: Type.Optional(removable<Static<typeof field.ordering_on_failure>>(field.ordering_on_failure)),
    task_version: Type.Optional(removable<string>(field.task_version)),
    allow_spot: Type.Optional(removable<boolean>(field.allow_spot)),
    breaker: Type.Optional(removable<BreakerRequest>(field.breaker)),
    priority: Type.Optional(removable<number>(field.priority)),
    queue: Type.Optional(removable<string>(field.queue)),
    overlap: Type.Optional(removable<Static<typeof field.overlap>>(field.overlap)),
    misfire: Type.Optional(removable<Static<typeof field.misfire>>(field.misfire)),
    misfire_threshold: Type.Optional(removable<string>(field.misfire_threshold)),
    catchup_window: Type.Optional(removable<string>(field.catchup_window)),
    catchup_limit: Type.Optional(removable<number>(field.catchup_limit)),
    catchup_rate: Type.Optional(removable<number>(field.catchup_rate)),
    labels: Type.Optional(removable<Record<string, string>>(field.labels)),
    searchable: Type.Optional(removable<string[]>(field.searchable)),
    owner: Type.Optional(removable<string>(field.owner)),
  },
  {
    title: "JobPatch",
    additionalProperties: false,
    description: "A merge patch (RFC 7396): what is left out stays, null removes, lists are replaced",
    examples: [{ schedule: { cron: "0 6 * * *" }, labels: { team: null } }],
  },
);

export type JobPatch = Static<typeof JobPatch>;
