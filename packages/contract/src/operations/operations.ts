import { createJob, getJob, listJobRuns, listJobs } from "./jobs.js";
import { getDocs, getLivez, getMetrics, getOpenApi, getReadyz, getVersion } from "./meta.js";
import { getRun, listRuns } from "./runs.js";

/** Every operation of the API by its operationId, in the order in which the documents list them. */
export const operations = {
  createJob,
  listJobs,
  getJob,
  listJobRuns,
  listRuns,
  getRun,
  getLivez,
  getReadyz,
  getMetrics,
  getVersion,
  getOpenApi,
  getDocs,
} as const;

export type OperationId = keyof typeof operations;
