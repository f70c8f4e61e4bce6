import {
  eventGroups,
  eventTypes,
  type IdPrefix,
  jobStatusNames,
  namespaceNamePattern,
  runStatusNames,
} from "@carillon/core";

/** The bounds on requests. Larger data belongs into a store of its own, to which the payload refers. */
export const limits = {
  bodyBytes: 1_048_576,
  /** Levels of objects and arrays, the body included. */
  jsonDepth: 64,
  labels: 64,
  labelKeyLength: 63,
  labelValueLength: 256,
  nonRetryable: 100,
  /** Of a name: task, queue, owner, key. */
  nameLength: 200,
  /** Of a text that is parsed: durations, instants, zone names. */
  parsedTextLength: 64,
  cronLength: 256,
  pageSize: 1_000,
  defaultPageSize: 50,
  /** Queues of a page that includes the stats of each. */
  countedQueues: 100,
  pageTokenLength: 512,
  idempotencyKeyLength: 255,
  selectorLength: 2_000,
  /** Payload paths that one job or run declares, or that one list filters by. */
  searchPaths: 8,
  searchPathLength: 100,
  /** Calendars in one list of a schedule. */
  calendars: 20,
  /** Jobs that one schedule waits for. */
  upstreams: 32,
  conditionLength: 1_024,
  forecastHours: 24,
  /** Jobs of one batch. */
  batch: 1_000,
  /** Runs of one batch, and its size. A stream of runs has no such bound. */
  runBatch: 10_000,
  runBatchBytes: 16_777_216,
  /** Of a text that gives a reason. */
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

/** For the times in a run's policies. At most a year: work that takes longer is a service, not a run. */
export const policyTimeBounds = { minMs: 1, maxMs: 366 * 86_400_000 } as const;

/** Bounds of the worker protocol. */
export const workerLimits = {
  namespaces: 100,
  queues: 1_000,
  tasks: 1_000,
  /** Of one task. */
  versions: 100,
  slots: 10_000,
  ahead: 10_000,
  /** Runs in one request. */
  runs: 20_000,
  /** Of a request that names runs. */
  claimsBytes: 4_194_304,
  /** The longest wait of a poll. */
  pollMs: 20_000,
  /** A poll brings the results of many runs. */
  pollBytes: 16_777_216,
  errorLength: 16_384,
  /** Notes of one call, and its size: values are JSON text inside JSON. */
  stateRequests: 200,
  stateBytes: 4_194_304,
  /** A year: a longer time is a mistake. */
  agoMs: 31_622_400_000,
} as const;

/** Of callbacks and webhooks. */
export const callbackLimits = {
  callbacks: 10,
  moments: 4,
  urlLength: 2_000,
  names: 100,
  overlapMs: 31 * 86_400_000,
} as const;

/** How fast a backfill may be, and how fast it is by default. */
export const backfillLimits = { minPerSecond: 0.001, perSecond: 1_000, concurrency: 1_000 } as const;

export const backfillDefaults = { perSecond: 10, concurrency: 10 } as const;

/** A job's key: chosen by its user, unique in the namespace, safe in a URL and free of colons. */
export const keyPattern = "^[A-Za-z0-9._-]{1,200}$";

/** Keys of one list request: as many as fit into a URL. */
export const maxKeys = 50;

export const keysPattern = `^[A-Za-z0-9._-]{1,200}(,[A-Za-z0-9._-]{1,200}){0,${maxKeys - 1}}$`;

/** Names of existing tasks and queues, Carillon's own included. */
export const anyNamePattern = "^[A-Za-z0-9_][A-Za-z0-9_.:/-]*$";

/** Names of tasks and queues that a caller may choose; names that begin with carillon: are reserved. */
export const namePattern = "^(?!carillon:)[A-Za-z0-9_][A-Za-z0-9_.:/-]*$";

/** A queue's name, or * for all queues. */
export const queuePattern = "^(\\*|(?!carillon:)[A-Za-z0-9_][A-Za-z0-9_.:/-]*)$";

export const labelKeyPattern = "^[A-Za-z0-9]([A-Za-z0-9._/-]*[A-Za-z0-9])?$";

/** A path to a value in a payload: names of members with dots in between. */
export const searchPathPattern = "^[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+)*$";

/** Any printable text. */
export const printablePattern = "^[^\\u0000-\\u001f\\u007f]*$";

/** Names of calendars and maintenance windows: safe in a URL and free of colons. */
export const plainNamePattern = "^[A-Za-z0-9][A-Za-z0-9._-]*$";

export const plainNameLength = 100;

export const namespaceNameLength = 63;

/** A namespace's name, or * for all namespaces. */
export const namespacesPattern = "^(\\*|[a-z0-9][a-z0-9._-]{0,62})$";

/** As PostgreSQL prints it. */
export const uuidPattern = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$";

/** A run in the worker protocol: its UUID, or its id. */
export const runRefPattern = `${uuidPattern}|^run_[0-7][0-9a-hjkmnp-tv-z]{25}$`;

export const webAddressPattern = "^https?://[^\\s]+$";

/** As `parseDuration` reads it: 1h30m, or ISO 8601 without months and years. At least one number, the longest unit first. */
export const durationPattern =
  "^(?:(?=\\d)(?:\\d+w)?(?:\\d+d)?(?:\\d+h)?(?:\\d+m(?!s))?(?:\\d+s)?(?:\\d+ms)?" +
  "|P(?=[\\dT])(?:\\d+W)?(?:\\d+D)?(?:T(?=\\d)(?:\\d+H)?(?:\\d+M)?(?:\\d+(?:[.,]\\d{1,3})?S)?)?)$";

const dayAndTime =
  "(?!0000)\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])[Tt](?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:\\.\\d{1,9})?)?";
const offset = "(?:[Zz]|[+-](?:[01]\\d|2[0-3]):?[0-5]\\d)";

/** As `parseInstant` reads it; the day must exist besides. */
export const instantPattern = `^${dayAndTime}${offset}$`;

/** The same where a time zone may stand for the offset. */
export const localInstantPattern = `^${dayAndTime}${offset}?$`;

const idCharacters = "[0-7][0-9a-hjkmnp-tv-z]{25}";
const uuid = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";

/** An id: its prefix, an underscore and 26 characters, or its UUID. */
export const idPattern = (prefix: IdPrefix): string => `^(?:${prefix}_${idCharacters}|${uuid})$`;

/** A job by its id, or by @ and its key. */
export const jobRefPattern = `^(?:job_${idCharacters}|${uuid}|@[A-Za-z0-9._-]{1,200})$`;

export const limitIdPattern = "^lim_[1-9][0-9]{0,14}$";

/** One or several of these words, separated by commas. */
const wordsPattern = (words: readonly string[]): string => {
  const one = `\\s*(?:${words.join("|")})\\s*`;
  return `^${one}(?:,${one})*$`;
};

const inAnyCase = (word: string): string => word.replaceAll(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`);

/** The words that a filter by the status of a run or a job takes. */
export const runStatusesPattern = wordsPattern(runStatusNames.map(inAnyCase));
export const jobStatusesPattern = wordsPattern(jobStatusNames.map(inAnyCase));

/** Types of events, or their groups. */
export const eventTypesPattern = wordsPattern([...eventTypes, ...eventGroups].map((name) => name.replace(".", "\\.")));

/** The value of an Idempotency-Key: printable ASCII. */
export const idempotencyKeyPattern = "^[\\x20-\\x7e]+$";

/** The ETag of a version, also in its weak form. */
export const etagPattern = '^\\s*(?:W/)?"v\\d{1,20}"\\s*$';

/** A SHA-256 as text. */
export const tokenHashPattern = "^[0-9a-f]{64}$";

/** The patterns in words, for error texts. */
export const patternWords: ReadonlyMap<string, string> = new Map([
  [keyPattern, "1 to 200 letters, digits, dots, dashes and underscores"],
  [keysPattern, `up to ${maxKeys} keys, separated by commas`],
  [namePattern, "letters, digits and _ . : / -, beginning with a letter, a digit or _, and not with carillon:"],
  [
    queuePattern,
    "* alone, or letters, digits and _ . : / -, beginning with a letter, a digit or _, and not with carillon:",
  ],
  [plainNamePattern, "letters, digits and . _ -, beginning with a letter or a digit"],
  [namespaceNamePattern, "1 to 63 lower-case letters, digits and . _ -, beginning with a letter or a digit"],
  [namespacesPattern, "* alone, or lower-case letters, digits and . _ -, beginning with a letter or a digit"],
  [runRefPattern, "a run's UUID in lower-case letters, or run_ and 26 letters and digits"],
  [webAddressPattern, "an address that begins with http:// or https://"],
  [tokenHashPattern, "64 hexadecimal digits"],
  [searchPathPattern, "names of members with dots in between"],
  [labelKeyPattern, "letters, digits and . _ / - in between"],
  [printablePattern, "text without control characters"],
]);
