/** What the catalogue says of one error. `status` is the HTTP status; `retryable` says whether the same call may work later. */
export interface ErrorEntry {
  readonly status: number;
  readonly retryable: boolean;
  /** One line, the same for every instance; the instance's own words are its `detail`. */
  readonly title: string;
}

/** By area, which is how the reference is laid out. */
const areas = {
  Requests: {
    bad_request: { status: 400, retryable: false, title: "The request is not valid" },
    unknown_field: { status: 400, retryable: false, title: "The request has a field that does not exist" },
    field_missing: { status: 400, retryable: false, title: "A required field is missing" },
    field_invalid: { status: 400, retryable: false, title: "A field has a value that it does not take" },
    json_invalid: { status: 400, retryable: false, title: "The body is not valid JSON" },
    page_token_invalid: { status: 400, retryable: false, title: "The page token does not belong to this list" },
    host_refused: { status: 403, retryable: false, title: "This server does not answer to that host name" },
    origin_refused: { status: 403, retryable: false, title: "A web page of another origin may not call this server" },
    id_invalid: { status: 400, retryable: false, title: "The id is not valid" },
    status_unknown: { status: 400, retryable: false, title: "There is no such status" },
    path_not_searchable: { status: 400, retryable: false, title: "Nothing was declared searchable by this path" },
    label_selector_invalid: { status: 400, retryable: false, title: "The label selector cannot be read" },
    not_found: { status: 404, retryable: false, title: "There is no such thing" },
    method_not_allowed: { status: 405, retryable: false, title: "This address does not take that method" },
    precondition_failed: { status: 412, retryable: false, title: "It has changed since it was read" },
    payload_too_large: { status: 413, retryable: false, title: "The request is larger than allowed" },
    unsupported_media_type: { status: 415, retryable: false, title: "The body is not JSON" },
    not_supported_yet: { status: 422, retryable: false, title: "This version does not support that yet" },
    idempotency_in_progress: {
      status: 409,
      retryable: true,
      title: "A call with this Idempotency-Key is under way",
    },
    idempotency_key_reused: {
      status: 422,
      retryable: false,
      title: "The Idempotency-Key was used for another request",
    },
    rate_limited: { status: 429, retryable: true, title: "The caller's quota is used up" },
    headers_too_large: { status: 431, retryable: false, title: "The request's headers are larger than allowed" },
  },
  Jobs: {
    key_taken: { status: 409, retryable: false, title: "Another job has this key" },
    job_ended: { status: 409, retryable: false, title: "The job is cancelled and cannot change" },
    job_busy: { status: 409, retryable: true, title: "Somebody else holds the job" },
    overlap_refused: { status: 409, retryable: true, title: "A run of the job is still live" },
    run_live: { status: 409, retryable: true, title: "The run has not ended" },
    run_not_failed: { status: 409, retryable: false, title: "The run is no dead letter" },
    run_not_repeatable: { status: 409, retryable: false, title: "The run cannot be made again" },
    version_unknown: { status: 404, retryable: false, title: "The job never had this version" },
    upstream_unknown: { status: 422, retryable: false, title: "A job to wait for does not exist" },
    dependency_cycle: { status: 422, retryable: false, title: "The job would wait for itself" },
    job_has_dependants: { status: 409, retryable: false, title: "Other jobs wait for this one" },
    backfill_invalid: { status: 422, retryable: false, title: "The backfill is not possible" },
  },
  Runs: {
    payload_invalid: { status: 422, retryable: false, title: "The payload is not one that its task takes" },
    run_not_waiting: { status: 409, retryable: false, title: "The run does not wait for its time" },
    run_duplicate: { status: 409, retryable: false, title: "Another run with this dedupe key counts" },
    callback_used: { status: 409, retryable: false, title: "The callback came before" },
    callback_over: { status: 410, retryable: false, title: "Nobody waits for the callback any more" },
    dedupe_busy: { status: 409, retryable: true, title: "An open transaction holds this dedupe key" },
  },
  Webhooks: {
    address_refused: { status: 422, retryable: false, title: "The address is not one that may be reached" },
  },
  Namespaces: {
    namespace_taken: { status: 409, retryable: false, title: "Another namespace has this name" },
  },
  Queues: {
    queue_order_fixed: { status: 409, retryable: false, title: "The order of the queue cannot become this one" },
  },
  Schedules: {
    cron_invalid: { status: 422, retryable: false, title: "The cron expression is not valid" },
    cron_never_fires: { status: 422, retryable: false, title: "The cron expression can never fire" },
    time_zone_unknown: { status: 422, retryable: false, title: "The time zone is not an IANA name" },
    schedule_invalid: { status: 422, retryable: false, title: "The schedule is not valid" },
    schedule_in_past: { status: 422, retryable: false, title: "The instant lies too far in the past" },
    instant_invalid: { status: 422, retryable: false, title: "The time is not an instant of RFC 3339" },
    duration_invalid: { status: 422, retryable: false, title: "The duration is not valid" },
  },
  Calendars: {
    calendar_unknown: { status: 422, retryable: false, title: "There is no such calendar" },
    calendar_in_use: { status: 409, retryable: false, title: "Jobs use the calendar" },
    calendar_invalid: { status: 422, retryable: false, title: "The calendar is not valid" },
    calendar_holidays_unavailable: { status: 422, retryable: false, title: "There is no source of public holidays" },
    icalendar_invalid: { status: 422, retryable: false, title: "The iCalendar file cannot be read" },
    maintenance_window_invalid: { status: 422, retryable: false, title: "The maintenance window is not valid" },
  },
  Workers: {
    session_lost: { status: 410, retryable: false, title: "The worker's session has ended; it has to register again" },
  },
  Policies: {
    condition_invalid: { status: 422, retryable: false, title: "The condition is not valid" },
    template_invalid: { status: 422, retryable: false, title: "The text template is not valid" },
    template_value_missing: { status: 422, retryable: false, title: "A value that a text template needs is missing" },
    template_value_invalid: { status: 422, retryable: false, title: "A value does not fit into a text template" },
    retry_invalid: { status: 422, retryable: false, title: "The retry policy is not valid" },
    limit_invalid: { status: 422, retryable: false, title: "The limit is not valid" },
  },
  Server: {
    internal: { status: 500, retryable: true, title: "The server made a mistake" },
    database_unavailable: { status: 503, retryable: true, title: "The database cannot be reached" },
    database_timeout: { status: 504, retryable: true, title: "The database did not answer in time" },
    etcd_unavailable: { status: 503, retryable: true, title: "The etcd cluster cannot be reached" },
    overloaded: { status: 503, retryable: true, title: "The node has more work than it can queue" },
    shutting_down: { status: 503, retryable: true, title: "The node is shutting down" },
  },
  "Start and set-up": {
    config_invalid: { status: 500, retryable: false, title: "The configuration is not valid" },
    port_in_use: { status: 500, retryable: false, title: "Another process listens on this port" },
    etcd_refused: { status: 500, retryable: false, title: "The etcd cluster refused a request" },
    embedded_postgres_failed: { status: 500, retryable: false, title: "The embedded PostgreSQL cannot be used" },
    database_url_invalid: { status: 500, retryable: false, title: "The database URL is not valid" },
    database_refused: { status: 503, retryable: true, title: "The database refuses this user or database name" },
    direct_url_needed: { status: 500, retryable: false, title: "This needs a direct way to the database server" },
    database_too_old: { status: 500, retryable: false, title: "The database server is too old" },
    database_pool_too_small: { status: 500, retryable: false, title: "The pool has too few connections" },
    schema_name_invalid: { status: 500, retryable: false, title: "The schema's name is not allowed" },
    schema_not_permitted: { status: 500, retryable: false, title: "The schema may not be created or changed" },
    schema_too_new: { status: 500, retryable: false, title: "The schema is newer than this version" },
    schema_too_old: { status: 500, retryable: false, title: "The schema lacks migrations" },
    migration_changed: { status: 500, retryable: false, title: "A migration differs from the one that was run" },
    migration_missing: { status: 500, retryable: false, title: "The migrations have a gap" },
  },
} as const satisfies Record<string, Record<string, ErrorEntry>>;

type Areas = typeof areas;

export type ErrorCode = { [Area in keyof Areas]: keyof Areas[Area] }[keyof Areas];

/** The codes of each area, in the order of the reference. */
export const errorAreas: Readonly<Record<string, readonly ErrorCode[]>> = Object.fromEntries(
  Object.entries(areas).map(([area, entries]) => [area, Object.keys(entries) as ErrorCode[]]),
);

/** Every error a user can meet, by its stable code. docs/reference/errors.md is generated from it. */
export const errorCatalogue = Object.freeze(
  Object.fromEntries(Object.values(areas).flatMap((entries) => Object.entries(entries))),
) as Readonly<Record<ErrorCode, ErrorEntry>>;

/** Where the reference explains a code, from the root of the repository. */
export function errorAnchor(code: ErrorCode): string {
  return `docs/reference/errors.md#${code}`;
}
