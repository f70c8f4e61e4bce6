export type { EngineApi, JobFilter, JobRef, Page, PageRequest, RunFilter } from "./model/api.js";
export type { JobState, JobView } from "./model/job-view.js";
export type { AttemptRecord, RunError, RunStatus, RunView, TriggerKind } from "./model/run-view.js";
