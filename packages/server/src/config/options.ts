import {
  type Kind,
  anyText,
  duration,
  httpAddresses,
  oneOf,
  outboundEntries,
  postgresUrl,
  publicUrl,
  rateQuota,
  someOf,
  text,
  wholeNumber,
} from "./kinds.js";

export interface Option<T> {
  readonly kind: Kind<T>;
  readonly default: T;
  /** One line for `carillon server config` and the docs. */
  readonly doc: string;
  /** The password in it is masked in output. */
  readonly secret?: true;
  /** A path: relative to the folder of the file, or to the working directory if given elsewhere. */
  readonly path?: true;
}

const option = <T>(
  kind: Kind<T>,
  value: T,
  doc: string,
  extra: Pick<Option<T>, "secret" | "path"> = {},
): Option<T> => ({ kind, default: value, doc, ...extra });

const ROLES = Object.freeze(["api", "scheduler", "gateway"] as const);

/** Everything that can be configured. A key exists only when something reads it. */
export const options = {
  host: option(anyText, "127.0.0.1", "address to listen on"),
  port: option(wholeNumber(0, 65_535), 8023, "port of the HTTP API; 0 picks a free one"),
  dataDir: option(anyText, ".carillon", "folder of the embedded PostgreSQL", { path: true }),
  databaseUrl: option<string | null>(postgresUrl, null, "PostgreSQL 14 or newer to use instead of the embedded one", {
    secret: true,
  }),
  databaseDirectUrl: option<string | null>(
    postgresUrl,
    null,
    "the same database without the pooler, for LISTEN and advisory locks",
    { secret: true },
  ),
  databaseSchema: option(
    text(
      "a lower-case name of letters, digits and _, not beginning with pg_, such as carillon",
      /^(?!pg_)[a-z_][a-z0-9_]{0,62}$/,
    ),
    "carillon",
    "schema of the tables",
  ),
  databasePoolSize: option(wholeNumber(4, 1_000), 10, "maximum number of database connections of this node"),
  databaseConnectTimeout: option(duration("0s", "1h"), 30_000, "how long a start waits for the database"),
  shardLease: option(
    duration("500ms", "1m"),
    5_000,
    "how long a node keeps its shards after its last heartbeat; a dead node is detected after this time",
  ),
  coordinator: option(oneOf(["postgres", "etcd"]), "postgres", "service that assigns shards to nodes"),
  etcdEndpoints: option<readonly string[] | null>(httpAddresses, null, "servers of the etcd cluster"),
  etcdPrefix: option(
    text("1 to 200 letters, digits, . _ - or /, neither beginning nor ending with /", /^(?!\/)[\w./-]{1,200}(?<!\/)$/),
    "carillon",
    "prefix of all keys in etcd; clusters that share an etcd need different ones",
  ),
  workerTimeout: option(
    duration("1s", "10m"),
    15_000,
    "how long a worker keeps its runs after its last heartbeat; the runs of a lost worker are rescued after this time",
  ),
  maxInflightRequests: option(
    wholeNumber(1, 1_000_000),
    2_000,
    "maximum number of calls in flight; more get 503 (waiting calls, and calls of workers, each have five times as many)",
  ),
  maxInflightBytes: option(
    wholeNumber(1_048_576, 2 ** 40),
    67_108_864,
    "maximum size of the bodies of the calls in flight together, in bytes",
  ),
  quotaRead: option(
    rateQuota,
    null,
    "maximum rate of reading calls for each namespace at this node, such as 600/1m; more get 429",
  ),
  quotaWrite: option(rateQuota, null, "the same for writing calls"),
  quotaBulk: option(rateQuota, null, "the same for bulk calls, such as batches"),
  quotaStream: option(rateQuota, null, "the same for opening event streams"),
  roles: option(someOf(ROLES), ROLES, "roles of this node"),
  workerSlots: option(
    wholeNumber(0, 10_000),
    10,
    "runs that the worker in this process executes at a time; 0 for none",
  ),
  outboundAllowlist: option<readonly string[] | null>(
    outboundEntries,
    null,
    "private addresses that jobs may connect to",
  ),
  publicUrl: option<string | null>(publicUrl, null, "address of this node for callbacks; by default its own"),
  nodeName: option<string | null>(
    text("1 to 100 letters, digits, dots, dashes or _", /^[A-Za-z0-9._-]{1,100}$/),
    null,
    "name of this node; by default the name of the host",
  ),
  runRetentionDays: option(wholeNumber(1, 3_650), 90, "days for which finished runs are kept"),
  runLogRetentionDays: option(wholeNumber(1, 3_650), 30, "days for which the logs of runs are kept"),
  logLevel: option(
    oneOf(["trace", "debug", "info", "warn", "error", "fatal", "silent"]),
    "info",
    "minimum level of log entries",
  ),
  logFormat: option(oneOf(["auto", "pretty", "json"]), "auto", "auto is pretty on a terminal, otherwise json"),
  shutdownGracePeriod: option(
    duration("0s", "1h"),
    25_000,
    "how long a stop waits for running work before it releases it",
  ),
} as const;

export type OptionName = keyof typeof options;

/** The configuration in force: every option, checked, frozen. Durations are milliseconds. */
export type Config = {
  readonly [Name in OptionName]: (typeof options)[Name] extends Option<infer Value> ? Value : never;
};

/** The options in declaration order, typed by name. */
export const optionNames = Object.keys(options) as OptionName[];

/** The names of an option: `dataDir` in code, `data_dir` in the file, CARILLON_DATA_DIR, --data-dir. */
export const fileKey = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export const envName = (name: string): string => `CARILLON_${fileKey(name).toUpperCase()}`;

export const flagName = (name: string): string => `--${fileKey(name).replaceAll("_", "-")}`;
