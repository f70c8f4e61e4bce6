export { checkValue } from "./check/check-value.js";
export { Findings } from "./check/findings.js";
export { checkJsonValue } from "./check/json-value.js";
export { type JobRequest, normaliseJobRequest } from "./normalise/job-request.js";
export { openApiDocument } from "./openapi/document.js";
export type { Json } from "./openapi/schema-components.js";
export {
  type Answer,
  commonErrors,
  type Operation,
  type ParamsOf,
  type Permission,
  type QueryOf,
  type RateClass,
} from "./operations/operation.js";
export { type OperationId, operations } from "./operations/operations.js";
export type { Alive, Readiness, Version } from "./schema/health.js";
export type { JobCreate } from "./schema/job-create.js";
export type { Job, JobStatus, JobWarning } from "./schema/job.js";
export { keyPattern, limits } from "./schema/limits.js";
export type { JobList, JobListQuery, JobRunListQuery, RunList, RunListQuery } from "./schema/page.js";
export { errorCodes, type Finding, Problem } from "./schema/problem.js";
export type { Retry, RetryRequest } from "./schema/retry.js";
export type { Run, RunError, RunStatus, RunSummary } from "./schema/run.js";
export type { Schedule, ScheduleRequest } from "./schema/schedule.js";
