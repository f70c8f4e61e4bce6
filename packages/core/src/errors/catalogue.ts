/** One error. `status` is the HTTP status; `retryable`: the same call may succeed later. */
export interface ErrorEntry {
  readonly status: number;
  readonly retryable: boolean;
  /** One sentence, the same for every instance; `detail` describes the instance. */
  readonly title: string;
}

/** By area, in the order of the reference. */
const areas = {
  Requests: {
    bad_request: { status: 400, retryable: false, title: "The request is not valid." },
    unknown_field: { status: 400, retryable: false, title: "The request has a field that does not exist." },
    field_missing: { status: 400, retryable: false, title: "A required field is missing." },
    field_invalid: { status: 400, retryable: false, title: "A field has a value that is not allowed." },
    json_invalid: { status: 400, retryable: false, title: "The body is not valid JSON." },
    page_token_invalid: { status: 400, retryable: false, title: "The page token does not belong to this list." },
    host_refused: { status: 403, retryable: false, title: "The server does not accept requests for this host name." },
    origin_refused: {
      status: 403,
      retryable: false,
      title: "The server does not accept requests from web pages of other origins.",
    },
    id_invalid: { status: 400, retryable: false, title: "The id is not valid." },
    status_unknown: { status: 400, retryable: false, title: "The status does not exist." },
    path_not_searchable: { status: 400, retryable: false, title: "The payload path is not declared as searchable." },
    label_selector_invalid: { status: 400, retryable: false, title: "The label selector is not valid." },
    not_found: { status: 404, retryable: false, title: "The resource does not exist." },
    method_not_allowed: { status: 405, retryable: false, title: "The address does not support the method." },
    precondition_failed: { status: 412, retryable: false, title: "The resource has changed since the caller read it." },
    payload_too_large: { status: 413, retryable: false, title: "The request is larger than allowed." },
    unsupported_media_type: { status: 415, retryable: false, title: "The body is not JSON." },
    not_supported_yet: { status: 422, retryable: false, title: "This version does not support the feature yet." },
    idempotency_in_progress: {
      status: 409,
      retryable: true,
      title: "A call with the same Idempotency-Key is in progress.",
    },
    idempotency_key_reused: {
      status: 422,
      retryable: false,
      title: "The Idempotency-Key was used for another request.",
    },
    rate_limited: { status: 429, retryable: true, title: "The caller's quota is used up." },
    headers_too_large: { status: 431, retryable: false, title: "The request's headers are larger than allowed." },
  },
  Jobs: {
    key_taken: { status: 409, retryable: false, title: "Another job has this key." },
    job_ended: { status: 409, retryable: false, title: "The job is cancelled and cannot change." },
    job_busy: { status: 409, retryable: true, title: "Another transaction holds the job." },
    overlap_refused: { status: 409, retryable: true, title: "A run of the job is still live." },
    run_live: { status: 409, retryable: true, title: "The run has not ended." },
    run_not_failed: { status: 409, retryable: false, title: "The run is not a dead letter." },
    run_not_repeatable: { status: 409, retryable: false, title: "The run cannot be repeated." },
    version_unknown: { status: 404, retryable: false, title: "The job never had this version." },
    upstream_unknown: { status: 422, retryable: false, title: "An upstream job does not exist." },
    dependency_cycle: { status: 422, retryable: false, title: "The dependencies of the job form a cycle." },
    job_has_dependants: { status: 409, retryable: false, title: "Other jobs depend on the job." },
    backfill_invalid: { status: 422, retryable: false, title: "The backfill is not possible." },
  },
  Runs: {
    payload_invalid: { status: 422, retryable: false, title: "The payload does not match the schema of its task." },
    run_not_waiting: { status: 409, retryable: false, title: "The run is not waiting for its time." },
    run_duplicate: { status: 409, retryable: false, title: "Another run with the dedupe key exists." },
    callback_used: { status: 409, retryable: false, title: "The callback was already received." },
    callback_over: { status: 410, retryable: false, title: "The run does not wait for the callback any more." },
    dedupe_busy: { status: 409, retryable: true, title: "Another transaction holds the dedupe key." },
  },
  Webhooks: {
    address_refused: { status: 422, retryable: false, title: "The server may not send requests to the address." },
  },
  Namespaces: {
    namespace_taken: { status: 409, retryable: false, title: "Another namespace has this name." },
  },
  Queues: {
    queue_order_fixed: {
      status: 409,
      retryable: false,
      title: "The order of the queue cannot be changed to this one.",
    },
  },
  Schedules: {
    cron_invalid: { status: 422, retryable: false, title: "The cron expression is not valid." },
    cron_never_fires: { status: 422, retryable: false, title: "The cron expression can never fire." },
    time_zone_unknown: { status: 422, retryable: false, title: "The time zone is not an IANA name." },
    schedule_invalid: { status: 422, retryable: false, title: "The schedule is not valid." },
    schedule_in_past: { status: 422, retryable: false, title: "The instant lies too far in the past." },
    instant_invalid: { status: 422, retryable: false, title: "The time is not an RFC 3339 timestamp." },
    duration_invalid: { status: 422, retryable: false, title: "The duration is not valid." },
  },
  Calendars: {
    calendar_unknown: { status: 422, retryable: false, title: "The calendar does not exist." },
    calendar_in_use: { status: 409, retryable: false, title: "Jobs use the calendar." },
    calendar_invalid: { status: 422, retryable: false, title: "The calendar is not valid." },
    calendar_holidays_unavailable: {
      status: 422,
      retryable: false,
      title: "The process has no source of public holidays.",
    },
    icalendar_invalid: { status: 422, retryable: false, title: "The iCalendar file is not valid." },
    maintenance_window_invalid: { status: 422, retryable: false, title: "The maintenance window is not valid." },
  },
  Workers: {
    session_lost: {
      status: 410,
      retryable: false,
      title: "The session of the worker has ended; the worker must register again.",
    },
  },
  Policies: {
    condition_invalid: { status: 422, retryable: false, title: "The condition is not valid." },
    template_invalid: { status: 422, retryable: false, title: "The text template is not valid." },
    template_value_missing: { status: 422, retryable: false, title: "The payload lacks a value for a text template." },
    template_value_invalid: { status: 422, retryable: false, title: "A value cannot be used in a text template." },
    retry_invalid: { status: 422, retryable: false, title: "The retry policy is not valid." },
    limit_invalid: { status: 422, retryable: false, title: "The limit is not valid." },
  },
  Server: {
    internal: { status: 500, retryable: true, title: "The server failed unexpectedly." },
    database_unavailable: { status: 503, retryable: true, title: "The database is not reachable." },
    database_timeout: { status: 504, retryable: true, title: "The database did not respond in time." },
    etcd_unavailable: { status: 503, retryable: true, title: "The etcd cluster is not reachable." },
    overloaded: { status: 503, retryable: true, title: "The node has too many requests in progress." },
    shutting_down: { status: 503, retryable: true, title: "The node is shutting down." },
  },
  "Start and set-up": {
    config_invalid: { status: 500, retryable: false, title: "The configuration is not valid." },
    port_in_use: { status: 500, retryable: false, title: "Another process listens on the port." },
    etcd_refused: { status: 500, retryable: false, title: "The etcd cluster refused a request." },
    embedded_postgres_failed: { status: 500, retryable: false, title: "The embedded PostgreSQL cannot run." },
    database_url_invalid: { status: 500, retryable: false, title: "The database URL is not valid." },
    database_refused: { status: 503, retryable: true, title: "The database refuses this user or database name." },
    direct_url_needed: {
      status: 500,
      retryable: false,
      title: "The node needs a direct connection to the database server.",
    },
    database_too_old: { status: 500, retryable: false, title: "The database server is too old." },
    database_pool_too_small: { status: 500, retryable: false, title: "The connection pool is too small." },
    schema_name_invalid: { status: 500, retryable: false, title: "The schema name is not allowed." },
    schema_not_permitted: {
      status: 500,
      retryable: false,
      title: "The database user may not create or change the schema.",
    },
    schema_too_new: { status: 500, retryable: false, title: "The schema is newer than this version." },
    schema_too_old: { status: 500, retryable: false, title: "The schema lacks migrations." },
    migration_changed: { status: 500, retryable: false, title: "A migration differs from the applied one." },
    migration_missing: { status: 500, retryable: false, title: "A migration is missing." },
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
