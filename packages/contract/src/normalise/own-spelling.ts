import type { Findings } from "../check/findings.js";
import type { JobCreate } from "../schema/job-create.js";
import type { RetryPolicySpelling } from "../schema/retry.js";
import type { ScheduleRequest } from "../schema/schedule.js";

/** A value and where the caller wrote it. */
export interface Placed<Value> {
  readonly value: Value;
  readonly pointer: string;
}

type ScheduleField = keyof ScheduleRequest;

/** The fields that have more than one spelling, each found once. */
export interface OwnSpelling {
  readonly task: Placed<string> | undefined;
  readonly owner: Placed<string> | undefined;
  readonly callbacks: Placed<NonNullable<JobCreate["callbacks"]>> | undefined;
  readonly retry: Placed<RetryPolicySpelling> | undefined;
  readonly maxAttempts: Placed<number> | undefined;
  readonly schedule: { readonly [Field in ScheduleField]?: Placed<NonNullable<ScheduleRequest[Field]>> };
}

/** Brings what users of other systems write into our own fields; two spellings of one thing at once are refused. */
export function ownSpelling(body: JobCreate, findings: Findings): OwnSpelling {
  const one = <Value>(...candidates: readonly (Placed<Value> | undefined)[]): Placed<Value> | undefined => {
    const [first, second] = candidates.filter((candidate) => candidate !== undefined);
    if (first !== undefined && second !== undefined) {
      findings.add(second.pointer, "field_invalid", `says the same as ${first.pointer}; send one of them`);
    }
    return first;
  };
  const retry = one<RetryPolicySpelling>(placed(body.retry, "/retry"), placed(body.retry_policy, "/retry_policy"));
  return {
    task: one(placed(body.task, "/task"), placed(body.job_type, "/job_type")),
    owner: one(placed(body.owner, "/owner"), placed(body.user_id, "/user_id")),
    callbacks: one(
      placed(body.callbacks, "/callbacks"),
      placed(body.callback_url === undefined ? undefined : toldOfAll(body.callback_url), "/callback_url"),
    ),
    retry,
    maxAttempts: one(
      retry && placed(retry.value.max_attempts, `${retry.pointer}/max_attempts`),
      retry && oneMore(retry.value.max_retries, `${retry.pointer}/max_retries`),
      oneMore(body.retries, "/retries"),
    ),
    schedule: {
      ...placedMembers(body.schedule ?? {}),
      ...defined(
        "cron",
        one(
          placed(body.schedule?.cron, "/schedule/cron"),
          placed(body.cron, "/cron"),
          placed(body.cron_expression, "/cron_expression"),
        ),
      ),
      ...defined("at", one(placed(body.schedule?.at, "/schedule/at"), placed(body.schedule_time, "/schedule_time"))),
      ...defined(
        "time_zone",
        one(placed(body.schedule?.time_zone, "/schedule/time_zone"), placed(body.timezone, "/timezone")),
      ),
    },
  };
}

function placed<Value>(value: Value | undefined, pointer: string): Placed<Value> | undefined {
  return value === undefined ? undefined : { value, pointer };
}

function toldOfAll(url: string): NonNullable<JobCreate["callbacks"]> {
  return [{ url, include: ["output", "error"] }];
}

/** Other systems count the attempts after the first. */
function oneMore(retries: number | undefined, pointer: string): Placed<number> | undefined {
  return retries === undefined ? undefined : { value: retries + 1, pointer };
}

function defined<Name extends string, Value>(name: Name, value: Value | undefined): { [Key in Name]?: Value } {
  return value === undefined ? {} : ({ [name]: value } as { [Key in Name]?: Value });
}

function placedMembers(schedule: ScheduleRequest): OwnSpelling["schedule"] {
  const entries = Object.entries(schedule).map(([name, value]) => [name, { value, pointer: `/schedule/${name}` }]);
  return Object.fromEntries(entries) as OwnSpelling["schedule"];
}
