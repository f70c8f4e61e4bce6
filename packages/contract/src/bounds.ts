import { namespaceNamePattern } from "@carillon/core";

/** Every bound on what a request may hold, in one place. Larger things belong into a store of their own, named by the payload. */
export const limits = {
  bodyBytes: 1_048_576,
  /** Objects and arrays inside each other, the body itself included. */
  jsonDepth: 64,
  labels: 64,
  labelKeyLength: 63,
  labelValueLength: 256,
  nonRetryable: 100,
  /** Longest text that is a name: task, queue, owner, key. */
  nameLength: 200,
  /** Longest text that is parsed: durations, instants, zone names. */
  parsedTextLength: 64,
  cronLength: 256,
  pageSize: 1_000,
  defaultPageSize: 50,
  /** Queues of a page that says what waits in each. */
  countedQueues: 100,
  pageTokenLength: 512,
  idempotencyKeyLength: 255,
  selectorLength: 2_000,
  /** Paths of a payload that one job or run declares, or that one list is asked for by. */
  searchPaths: 8,
  searchPathLength: 100,
  /** Calendars that one schedule names in a list. */
  calendars: 20,
  /** Jobs that one schedule waits for. */
  upstreams: 32,
  conditionLength: 1_024,
  forecastHours: 24,
  /** Jobs of one batch. */
  batch: 1_000,
  /** Longest text that says why. */
  reasonLength: 500,
  /** The longest wait of a call that follows a log. */
  followMs: 20_000,
  /** The longest wait for the end of a run. */
  waitMs: 60_000,
  /** Fires that a preview shows at most. */
  upcoming: 1_000,
  defaultUpcoming: 10,
  /** At most this many findings in one answer. */
  findings: 100,
} as const;

/** Bounds of the worker protocol. */
export const workerLimits = {
  namespaces: 100,
  queues: 1_000,
  tasks: 1_000,
  /** Of one task. */
  versions: 100,
  slots: 10_000,
  ahead: 10_000,
  /** Runs that one request names. */
  runs: 20_000,
  /** Of a request that names them. */
  claimsBytes: 4_194_304,
  /** The longest wait of a poll. */
  pollMs: 20_000,
  /** A poll brings the results of many runs. */
  pollBytes: 16_777_216,
  errorLength: 16_384,
  /** Notes of one call, and its size: values are written as text within text. */
  notes: 200,
  noteBytes: 4_194_304,
  /** A year: whatever is longer is a mistake. */
  agoMs: 31_622_400_000,
} as const;

/** Whom to tell of the ends of runs. */
export const callbackLimits = {
  callbacks: 10,
  moments: 4,
  urlLength: 2_000,
  names: 100,
  overlapMs: 31 * 86_400_000,
} as const;

/** How fast a backfill may be, and what it does when nothing is said. */
export const backfillLimits = { leastPerSecond: 0.001, perSecond: 1_000, concurrency: 1_000 } as const;

export const backfillDefaults = { perSecond: 10, concurrency: 10 } as const;

/** A job's own name: stable, human, unique in its namespace, safe in a URL and free of colons. */
export const keyPattern = "^[A-Za-z0-9._-]{1,200}$";

/** Keys of one question: as many as fit into the address of a call. */
export const maxKeys = 50;

export const keysPattern = `^[A-Za-z0-9._-]{1,200}(,[A-Za-z0-9._-]{1,200}){0,${maxKeys - 1}}$`;

/** Names of tasks and queues that there are, the product's own among them. */
export const anyNamePattern = "^[A-Za-z0-9_][A-Za-z0-9_.:/-]*$";

/** Names of tasks and queues; those that begin with carillon: are the product's own. */
export const namePattern = "^(?!carillon:)[A-Za-z0-9_][A-Za-z0-9_.:/-]*$";

/** A queue's name, or all of them. */
export const queuePattern = "^(\\*|(?!carillon:)[A-Za-z0-9_][A-Za-z0-9_.:/-]*)$";

export const labelKeyPattern = "^[A-Za-z0-9]([A-Za-z0-9._/-]*[A-Za-z0-9])?$";

/** Where in a payload a value is: names of members with dots in between. */
export const searchPathPattern = "^[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+)*$";

/** Text of people and other systems: anything printable. */
export const printablePattern = "^[^\\u0000-\\u001f\\u007f]*$";

/** Names of calendars and maintenance windows: safe in a URL and free of colons. */
export const plainNamePattern = "^[A-Za-z0-9][A-Za-z0-9._-]*$";

export const plainNameLength = 100;

export const namespaceNameLength = 63;

/** A namespace's name, or all of them. */
export const namespacesPattern = "^(\\*|[a-z0-9][a-z0-9._-]{0,62})$";

/** As PostgreSQL prints it. */
export const uuidPattern = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$";

/** A run as workers name it: the UUID, or the id that is shown everywhere else. */
export const runRefPattern = `${uuidPattern}|^run_[0-7][0-9a-hjkmnp-tv-z]{25}$`;

export const webAddressPattern = "^https?://[^\\s]+$";

/** A SHA-256 as text. */
export const tokenHashPattern = "^[0-9a-f]{64}$";

/** The patterns in words, for messages. */
export const patternWords: ReadonlyMap<string, string> = new Map([
  [keyPattern, "1 to 200 letters, digits, dots, dashes and underscores"],
  [keysPattern, `up to ${maxKeys} keys, separated by commas`],
  [namePattern, "letters, digits and _ . : / -, beginning with a letter, a digit or _, and not with carillon:"],
  [
    queuePattern,
    "* alone, or letters, digits and _ . : / -, beginning with a letter, a digit or _, and not with carillon:",
  ],
  [plainNamePattern, "letters, digits and . _ -, beginning with a letter or a digit"],
  [namespaceNamePattern, "1 to 63 small letters, digits and . _ -, beginning with a letter or a digit"],
  [namespacesPattern, "* alone, or small letters, digits and . _ -, beginning with a letter or a digit"],
  [runRefPattern, "a run's UUID in small letters, or run_ and 26 letters and digits"],
  [webAddressPattern, "an address that begins with http:// or https://"],
  [tokenHashPattern, "64 hexadecimal digits"],
  [searchPathPattern, "names of members with dots in between"],
  [labelKeyPattern, "letters, digits and . _ / - in between"],
  [printablePattern, "text without control characters"],
]);
