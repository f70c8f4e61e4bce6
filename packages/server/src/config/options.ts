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
  /** Shown with its password masked. */
  readonly secret?: true;
  /** A path: one from the file counts from the file's folder, any other from the working directory. */
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
  port: option(wholeNumber(0, 65_535), 8023, "port of the HTTP API; 0 takes any free one"),
  dataDir: option(anyText, ".carillon", "folder of the embedded PostgreSQL", { path: true }),
  databaseUrl: option<string | null>(postgresUrl, null, "a PostgreSQL 14 or newer instead of the embedded one", {
    secret: true,
  }),
  directDatabaseUrl: option<string | null>(postgresUrl, null, "past the pooler, for what needs a session", {
    secret: true,
  }),
  databaseSchema: option(
    text(
      "a lower-case name of letters, digits and _, not beginning with pg_, such as carillon",
      /^(?!pg_)[a-z_][a-z0-9_]{0,62}$/,
    ),
    "carillon",
    "schema that holds the tables",
  ),
  databasePoolSize: option(wholeNumber(4, 1_000), 10, "connections that this node may open to the database"),
  databaseWait: option(duration("0s", "1h"), 30_000, "how long a start waits for the database"),
  lease: option(duration("500ms", "1m"), 5_000, "how long a silent node keeps its shards"),
  coordinator: option(oneOf(["postgres", "etcd"]), "postgres", "who decides which node owns which shard"),
  etcdEndpoints: option<readonly string[] | null>(httpAddresses, null, "etcd servers of one cluster, asked in turn"),
  etcdPrefix: option(
    text("1 to 200 letters, digits, . _ - or /, neither beginning nor ending with /", /^(?!\/)[\w./-]{1,200}(?<!\/)$/),
    "carillon",
    "beginning of every key in etcd; clusters that share an etcd differ in it",
  ),
  workerSilence: option(duration("1s", "10m"), 15_000, "how long a silent worker keeps its runs"),
  maxRequests: option(
    wholeNumber(1, 1_000_000),
    2_000,
    "calls under way at a time; more are answered 503 (of those that wait, and of workers', five times as many)",
  ),
  maxRequestBytes: option(
    wholeNumber(1_048_576, 2 ** 40),
    67_108_864,
    "size of the bodies of those calls together, in bytes",
  ),
  quotaRead: option(
    rateQuota,
    null,
    "calls that read, for each namespace at this node, as in 600/1m; more are answered 429",
  ),
  quotaWrite: option(rateQuota, null, "calls that write, in the same way"),
  quotaBulk: option(rateQuota, null, "calls that do much at once, such as batches, in the same way"),
  quotaStream: option(rateQuota, null, "streams of events that are opened, in the same way"),
  roles: option(someOf(ROLES), ROLES, "what this node does"),
  workerSlots: option(wholeNumber(0, 10_000), 10, "runs at a time in this process; 0 for none"),
  outboundAllow: option<readonly string[] | null>(
    outboundEntries,
    null,
    "addresses that jobs may reach although they are not public",
  ),
  publicUrl: option<string | null>(publicUrl, null, "address at which others call back; the node's own when not given"),
  nodeName: option<string | null>(
    text("1 to 100 letters, digits, dots, dashes or _", /^[A-Za-z0-9._-]{1,100}$/),
    null,
    "name of this node; the host's when not given",
  ),
  runHistoryDays: option(wholeNumber(1, 3_650), 90, "days before today whose finished runs are kept"),
  runLogDays: option(wholeNumber(1, 3_650), 30, "days before today whose runs' logs are kept"),
  logLevel: option(oneOf(["trace", "debug", "info", "warn", "error", "fatal", "silent"]), "info", "least level shown"),
  logFormat: option(oneOf(["auto", "pretty", "json"]), "auto", "auto is pretty on a terminal, else json"),
  shutdownGrace: option(duration("0s", "1h"), 25_000, "how long a stop waits for running work before it gives it back"),
} as const;

export type OptionName = keyof typeof options;

/** The configuration in force: every option, checked, frozen. Durations are milliseconds. */
export type Config = {
  readonly [Name in OptionName]: (typeof options)[Name] extends Option<infer Value> ? Value : never;
};

/** The options in declaration order, typed by name. */
export const optionNames = Object.keys(options) as OptionName[];

/** The spellings of one option: `dataDir` in code, `data_dir` in the file, CARILLON_DATA_DIR, --data-dir. */
export const fileKey = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export const envName = (name: string): string => `CARILLON_${fileKey(name).toUpperCase()}`;

export const flagName = (name: string): string => `--${fileKey(name).replaceAll("_", "-")}`;
