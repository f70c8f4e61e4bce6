import { Type, type Static } from "typebox";
import { Job } from "./job.js";
import { keysPattern, limits, mostKeys, printablePattern, searchPathPattern } from "./limits.js";
import { NextPageToken, paging, Total, totalQuery } from "./paging.js";
import { Run, triggerKinds } from "./run.js";
import { InstantText, JobName } from "./scalars.js";
import { stringEnum } from "./string-enum.js";

export const JobList = Type.Object(
  { jobs: Type.Array(Job), next_page_token: NextPageToken, total: Type.Optional(Total) },
  { title: "JobList", additionalProperties: false },
);

export const RunList = Type.Object(
  { runs: Type.Array(Run), next_page_token: NextPageToken, total: Type.Optional(Total) },
  { title: "RunList", additionalProperties: false },
);

const Word = (description: string) => Type.String({ minLength: 1, maxLength: limits.nameLength, description });

const filters = {
  status: Type.Optional(
    Word(
      "One or several, separated by commas. Also the groups pending, live, finished, and the words of other systems " +
        "(COMPLETED, success, failure …), in any case",
    ),
  ),
  task: Type.Optional(Word("Only of this task")),
  queue: Type.Optional(Word("Only in this queue")),
  owner: Type.Optional(Word("Only of this owner")),
  user_id: Type.Optional(Word("Other spelling of owner")),
  label_selector: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: limits.selectorLength,
      description: "Only with such labels: a=b, a!=b, a in (b,c), a notin (b,c), a, !a, several with commas",
      examples: ["team=billing,region in (eu,us)"],
    }),
  ),
  created_after: Type.Optional(InstantText("Only those made at this time or later.")),
  created_before: Type.Optional(InstantText("Only those made before this time.")),
  order_by: Type.Optional(
    stringEnum(["created_at desc", "created_at asc"], {
      description: "The newest first, which is how lists are ordered anyway, or the oldest first",
    }),
  ),
  payload: Type.Optional(
    Type.Unsafe<Record<string, string>>({
      type: "object",
      propertyNames: { type: "string", minLength: 1, maxLength: limits.searchPathLength, pattern: searchPathPattern },
      additionalProperties: { type: "string", maxLength: limits.labelValueLength, pattern: printablePattern },
      maxProperties: limits.searchPaths,
      description:
        "payload.<path>=<value>: only those with this value in their payload. The path was declared by searchable; the value is a text, " +
        "a number or true or false, as it is written in JSON without quotes",
      examples: [{ "customer.id": "42" }],
    }),
  ),
  total: Type.Optional(totalQuery),
};

export const JobListQuery = Type.Object(
  {
    ...paging,
    ...filters,
    key: Type.Optional(
      Type.String({
        pattern: keysPattern,
        description: `Only the jobs that have these keys now, up to ${mostKeys}, separated by commas; with no other parameter`,
        examples: ["nightly-report,weekly-report"],
      }),
    ),
  },
  { additionalProperties: false },
);

export const RunListQuery = Type.Object(
  {
    ...paging,
    ...filters,
    job_id: Type.Optional(JobName("Only of this job: its id, or @ and its key")),
    worker_id: Type.Optional(Word("Only those that this worker has or had")),
    trigger: Type.Optional(stringEnum(triggerKinds, { description: "Only those that this asked for" })),
  },
  { additionalProperties: false },
);

/** The runs of one job: the path names it. */
export const JobRunListQuery = Type.Object(
  {
    ...paging,
    status: filters.status,
    worker_id: RunListQuery.properties.worker_id,
    trigger: RunListQuery.properties.trigger,
    label_selector: filters.label_selector,
    created_after: filters.created_after,
    created_before: filters.created_before,
    order_by: filters.order_by,
    payload: filters.payload,
    total: filters.total,
  },
  { additionalProperties: false },
);

export type JobList = Static<typeof JobList>;
export type RunList = Static<typeof RunList>;
export type JobListQuery = Static<typeof JobListQuery>;
export type RunListQuery = Static<typeof RunListQuery>;
export type JobRunListQuery = Static<typeof JobRunListQuery>;
