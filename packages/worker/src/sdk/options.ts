import type { JobCreate } from "@carillon/client";
import type { DedupeAction } from "@carillon/core";
import type { RunDefaults, TaskDefinition } from "./task.js";

/** A task, or the name of one that is defined elsewhere. */
export type TaskReference<Input> = TaskDefinition<Input, unknown> | string;

export interface EnqueueOptions extends RunDefaults {
  /** How long to wait before it may start, such as "3d". */
  readonly delay?: string;
  /** When it may start; at once when neither this nor delay is given. */
  readonly runAt?: Date;
  readonly labels?: Readonly<Record<string, string>>;
  readonly owner?: string;
  readonly dedupe?: {
    /** What the run is about; without it the task alone is the identity. */
    readonly key?: string;
    /** While another run of this task and key counts; ignore by default. */
    readonly on?: DedupeAction;
    /** How long a run counts after its end, such as "1h"; while it is live when left out. */
    readonly window?: string;
  };
}

export interface ScheduleOptions<Input> extends RunDefaults {
  readonly cron?: string;
  readonly timeZone?: string;
  /** An interval such as "15m". */
  readonly every?: string;
  readonly at?: Date;
  /** Only when asked. */
  readonly manual?: true;
  readonly jitter?: string;
  readonly startsAt?: Date;
  readonly endsAt?: Date;
  readonly maxRuns?: number;
  /** With both day fields of a cron expression restricted: "or" by default. */
  readonly dayMatch?: "or" | "and";
  /** What happens to fixed times at clock changes. */
  readonly dst?: { readonly gap?: "after" | "skip"; readonly overlap?: "first" | "second" | "both" };
  /** Named calendars whose days are left out, or kept to. */
  readonly calendars?: {
    readonly exclude?: readonly string[];
    readonly only?: readonly string[];
    readonly roll?: "skip" | "next" | "previous" | "modified_following";
  };
  /** When runs of other jobs end: on success unless said otherwise. */
  readonly after?: readonly {
    /** Key or id. */
    readonly job: string;
    readonly on?: "success" | "failure" | "finish";
    /** CEL over the run that ended, such as "output.rows > 0". */
    readonly when?: string;
  }[];
  /** With several: all of them, the default, or any. */
  readonly mode?: "all" | "any";
  readonly payload?: Input;
  readonly overlap?: JobCreate["overlap"];
  readonly misfire?: JobCreate["misfire"];
  /** How late is late, such as "1m". */
  readonly misfireThreshold?: string;
  /** How far back missed occurrences are made up for, such as "1d". */
  readonly catchupWindow?: string;
  readonly catchupLimit?: number;
  /** Of those, so many runs in a second. */
  readonly catchupRate?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly owner?: string;
}
