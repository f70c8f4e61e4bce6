/** One error. `status` is the HTTP status; `retryable`: the same call may succeed later. */
export interface ErrorEntry {
  readonly status: number;
  readonly retryable: boolean;
  /** One sentence, the same for every instance; `detail` describes the instance. */
  readonly title: string;
}

const final = (status: number, title: string): ErrorEntry => ({ status, retryable: false, title });
const retryable = (status: number, title: string): ErrorEntry => ({ status, retryable: true, title });

/** By area, in the order of the reference. */
const areas = {
  Requests: {
    bad_request: final(400, "The request is not valid."),
    unknown_field: final(400, "The request has a field that does not exist."),
    field_missing: final(400, "A required field is missing."),
    field_invalid: final(400, "A field has a value that is not allowed."),
    json_invalid: final(400, "The body is not valid JSON."),
    page_token_invalid: final(400, "The page token does not belong to this list."),
    host_refused: final(403, "The server does not accept requests for this host name."),
    origin_refused: final(403, "The server does not accept requests from web pages of other origins."),
    id_invalid: final(400, "The id is not valid."),
    status_unknown: final(400, "The status does not exist."),
    path_not_searchable: final(400, "The payload path is not declared as searchable."),
    label_selector_invalid: final(400, "The label selector is not valid."),
    not_found: final(404, "The resource does not exist."),
    method_not_allowed: final(405, "The address does not support the method."),
    precondition_failed: final(412, "The resource has changed since the caller read it."),
    payload_too_large: final(413, "The request is larger than allowed."),
    unsupported_media_type: final(415, "The body is not JSON."),
    not_supported_yet: final(422, "This version does not support the feature yet."),
    idempotency_in_progress: retryable(409, "A call with the same Idempotency-Key is in progress."),
    idempotency_key_reused: final(422, "The Idempotency-Key was used for another request."),
    idempotency_key_stale: final(422, "The time in the Idempotency-Key is too far from the server's clock."),
    rate_limited: retryable(429, "The caller's quota is used up."),
    headers_too_large: final(431, "The request's headers are larger than allowed."),
  },
  Jobs: {
    key_taken: final(409, "Another job has this key."),
    job_ended: final(409, "The job is cancelled and cannot change."),
    job_busy: retryable(409, "Another transaction holds the job."),
    overlap_refused: retryable(409, "A run of the job is still live."),
    run_live: retryable(409, "The run has not ended."),
    run_not_failed: final(409, "The run is not a dead letter."),
    run_not_repeatable: final(409, "The run cannot be repeated."),
    version_unknown: final(404, "The job never had this version."),
    upstream_unknown: final(422, "An upstream job does not exist."),
    dependency_cycle: final(422, "The dependencies of the job form a cycle."),
    job_has_dependants: final(409, "Other jobs depend on the job."),
    backfill_invalid: final(422, "The backfill is not possible."),
  },
  Runs: {
    payload_invalid: final(422, "The payload does not match the schema of its task."),
    run_not_waiting: final(409, "The run is not waiting for its time."),
    run_duplicate: final(409, "Another run with the dedupe key exists."),
    callback_used: final(409, "The callback was already received."),
    callback_over: final(410, "The run does not wait for the callback any more."),
    dedupe_busy: retryable(409, "Another transaction holds the dedupe key."),
  },
  Webhooks: {
    address_refused: final(422, "The server may not send requests to the address."),
  },
  Namespaces: {
    namespace_taken: final(409, "Another namespace has this name."),
  },
  Queues: {
    queue_order_fixed: final(409, "The order of the queue cannot be changed to this one."),
  },
  Schedules: {
    cron_invalid: final(422, "The cron expression is not valid."),
    cron_never_fires: final(422, "The cron expression can never fire."),
    time_zone_unknown: final(422, "The time zone is not an IANA name."),
    schedule_invalid: final(422, "The schedule is not valid."),
    schedule_in_past: final(422, "The instant lies too far in the past."),
    instant_invalid: final(422, "The time is not an RFC 3339 timestamp."),
    duration_invalid: final(422, "The duration is not valid."),
  },
  Calendars: {
    calendar_unknown: final(422, "The calendar does not exist."),
    calendar_in_use: final(409, "Jobs use the calendar."),
    calendar_invalid: final(422, "The calendar is not valid."),
    calendar_holidays_unavailable: final(422, "The holidays are not known without an optional package."),
    icalendar_invalid: final(422, "The iCalendar file is not valid."),
    maintenance_window_invalid: final(422, "The maintenance window is not valid."),
  },
  Workers: {
    session_lost: final(410, "The session of the worker has ended; the worker must register again."),
  },
  Policies: {
    condition_invalid: final(422, "The condition is not valid."),
    template_invalid: final(422, "The text template is not valid."),
    template_value_missing: final(422, "The payload lacks a value for a text template."),
    template_value_invalid: final(422, "A value cannot be used in a text template."),
    retry_invalid: final(422, "The retry policy is not valid."),
    limit_invalid: final(422, "The limit is not valid."),
  },
  Server: {
    internal: retryable(500, "The server failed unexpectedly."),
    database_unavailable: retryable(503, "The database is not reachable."),
    outcome_unknown: retryable(503, "The call may have taken effect, because the database did not answer it."),
    database_timeout: retryable(504, "The database did not respond in time."),
    etcd_unavailable: retryable(503, "The etcd cluster is not reachable."),
    overloaded: retryable(503, "The node has too many requests in progress."),
    shutting_down: retryable(503, "The node is shutting down."),
  },
  "Start and set-up": {
    config_invalid: final(500, "The configuration is not valid."),
    port_in_use: final(500, "Another process listens on the port."),
    etcd_refused: final(500, "The etcd cluster refused a request."),
    embedded_postgres_failed: final(500, "The embedded PostgreSQL cannot run."),
    database_url_invalid: final(500, "The database URL is not valid."),
    database_refused: retryable(503, "The database refuses this user or database name."),
    direct_url_needed: final(500, "The node needs a direct connection to the database server."),
    database_too_old: final(500, "The database server is too old."),
    database_pool_too_small: final(500, "The connection pool is too small."),
    schema_name_invalid: final(500, "The schema name is not allowed."),
    schema_not_permitted: final(500, "The database user may not create or change the schema."),
    node_too_old: final(500, "The cluster uses features that this version of the node does not support."),
    schema_too_new: final(500, "The schema is newer than this version."),
    schema_too_old: final(500, "The schema lacks migrations."),
    migration_changed: final(500, "A migration differs from the applied one."),
    migration_missing: final(500, "A migration is missing."),
  },
} as const satisfies Record<string, Record<string, ErrorEntry>>;

type Areas = typeof areas;

export type ErrorCode = { [Area in keyof Areas]: keyof Areas[Area] }[keyof Areas];

/** The codes of each area, in the order of the reference. */
export const errorAreas: Readonly<Record<string, readonly ErrorCode[]>> = Object.fromEntries(
  Object.entries(areas).map(([area, entries]) => [area, Object.keys(entries) as ErrorCode[]]),
);

/** Every error that a user can receive, by its stable code. docs/reference/errors.md is generated from it. */
export const errorCatalogue = Object.freeze(
  Object.fromEntries(Object.values(areas).flatMap((entries) => Object.entries(entries))),
) as Readonly<Record<ErrorCode, ErrorEntry>>;

/** The place of a code in the reference, relative to the root of the repository. */
export function errorAnchor(code: ErrorCode): string {
  return `docs/reference/errors.md#${code}`;
}

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorCatalogue, code);
}
