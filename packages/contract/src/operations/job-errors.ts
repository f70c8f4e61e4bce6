import type { ErrorCode } from "@carillon/core";
import { queryErrors, storeErrors } from "./operation.js";

/** What any body can be refused for. */
export const bodyErrors = [
  "json_invalid",
  ...queryErrors,
  "field_missing",
  "payload_too_large",
  "unsupported_media_type",
] as const satisfies readonly ErrorCode[];

/** What any definition of a job can be refused for. */
export const definitionErrors = [
  ...bodyErrors,
  "not_supported_yet",
  "payload_invalid",
  "address_refused",
  "cron_invalid",
  "cron_never_fires",
  "time_zone_unknown",
  "schedule_invalid",
  "schedule_in_past",
  "duration_invalid",
  "instant_invalid",
  "retry_invalid",
  "limit_invalid",
  "template_invalid",
  "template_value_missing",
  "template_value_invalid",
  "calendar_unknown",
  "condition_invalid",
  "upstream_unknown",
  "dependency_cycle",
] as const satisfies readonly ErrorCode[];

/** What any change of a job can end with. */
export const changeErrors = [
  "not_found",
  "precondition_failed",
  "job_ended",
  "job_busy",
  ...storeErrors,
] as const satisfies readonly ErrorCode[];
