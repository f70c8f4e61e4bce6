import { Type, type Static } from "typebox";
import { Job } from "./job.js";
import { limits } from "./limits.js";
import { NextPageToken, paging } from "./paging.js";
import { Run } from "./run.js";

export const JobList = Type.Object(
  { jobs: Type.Array(Job), next_page_token: NextPageToken },
  { title: "JobList", additionalProperties: false },
);

export const RunList = Type.Object(
  { runs: Type.Array(Run), next_page_token: NextPageToken },
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
};

export const JobListQuery = Type.Object({ ...paging, ...filters }, { additionalProperties: false });

export const RunListQuery = Type.Object(
  {
    ...paging,
    ...filters,
    job_id: Type.Optional(Word("Only of this job")),
    worker_id: Type.Optional(Word("Only those that this worker has or had")),
  },
  { additionalProperties: false },
);

/** The runs of one job: the path names it. */
export const JobRunListQuery = Type.Object(
  { ...paging, status: filters.status, worker_id: RunListQuery.properties.worker_id },
  { additionalProperties: false },
);

export type JobList = Static<typeof JobList>;
export type RunList = Static<typeof RunList>;
export type JobListQuery = Static<typeof JobListQuery>;
export type RunListQuery = Static<typeof RunListQuery>;
export type JobRunListQuery = Static<typeof JobRunListQuery>;
