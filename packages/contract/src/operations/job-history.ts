import { JobCreate } from "../schema/job-create.js";
import {
  JobPreview,
  JobVersionList,
  OccurrenceList,
  PageQuery,
  Upcoming,
  UpcomingQuery,
} from "../schema/job-history.js";
import { JobRef } from "./job-address.js";
import { definitionErrors } from "./job-errors.js";
import { queryErrors, storeErrors, type Operation } from "./operation.js";

const reading = { method: "GET", tag: "Jobs", permission: "jobs:read", rateClass: "read", params: JobRef } as const;

export const listJobVersions = {
  ...reading,
  path: "/v1/jobs/{id}/versions",
  aliases: [{ path: "/jobs/{id}/versions" }],
  summary: "List the definitions that a job had, newest first",
  description: "The first is the one in force. A pause or a resume counts as a version too, but is not a definition.",
  query: PageQuery,
  answers: { 200: { description: "One page", schema: JobVersionList } },
  errors: ["not_found", ...queryErrors, "page_token_invalid", ...storeErrors],
} as const satisfies Operation;

export const listJobOccurrences = {
  ...reading,
  path: "/v1/jobs/{id}/occurrences",
  aliases: [{ path: "/jobs/{id}/occurrences" }],
  summary: "List the occurrences that have no scheduled run, newest first",
  description: "The ledger: missed, overlapping, paused, excluded and other occurrences, in ranges with the reason.",
  query: PageQuery,
  answers: { 200: { description: "One page", schema: OccurrenceList } },
  errors: ["not_found", ...queryErrors, "page_token_invalid", ...storeErrors],
} as const satisfies Operation;

export const listJobUpcoming = {
  ...reading,
  path: "/v1/jobs/{id}/upcoming",
  aliases: [{ path: "/jobs/{id}/upcoming" }],
  summary: "Show when a job fires next",
  query: UpcomingQuery,
  answers: { 200: { description: "The next fires, and what calendars take away in between", schema: Upcoming } },
  errors: ["not_found", ...queryErrors, ...storeErrors],
} as const satisfies Operation;

export const previewJob = {
  method: "POST",
  path: "/v1/jobs:preview",
  aliases: [{ path: "/jobs:preview" }],
  tag: "Jobs",
  summary: "Show what a job would do",
  description: "Takes what creating one takes (task may be left out) and stores nothing.",
  permission: "jobs:read",
  rateClass: "read",
  query: UpcomingQuery,
  body: JobCreate,
  answers: { 200: { description: "Its next fires and warnings", schema: JobPreview } },
  errors: [...definitionErrors, ...storeErrors],
} as const satisfies Operation;
