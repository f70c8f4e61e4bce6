import type { Timer } from "./timer.js";

/** Moments at which a test can hold the launcher; unused in production. */
export type ProbeName =
  | "owned"
  | "initdb-running"
  | "initialised"
  | "cluster-in-place"
  | "port-chosen"
  | "server-spawned"
  | "ready"
  | "stop-requested"
  | "stop-signalled";

export type Probes = Partial<Record<ProbeName, () => void | Promise<void>>>;

export interface EmbeddedPostgresOptions {
  /** Created if missing. Has the database, its password and its log; see the README for the layout. */
  readonly dataDir: string;
  /** Receives the log of the launcher, line by line. PostgreSQL's own log goes to `postgres.log` in the data directory. */
  readonly log?: (line: string) => void;
  /** A fixed port on 127.0.0.1. By default a free one, the same as last time when it is still free. */
  readonly port?: number;
  /** PostgreSQL settings over the launcher's own, for example `{ max_connections: "200" }`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** A folder with `bin`, `lib` and `share` to run instead of the installed package, for another version. */
  readonly binaryDir?: string;
  /** Where root stores the files that PostgreSQL's unprivileged user could not reach otherwise; by default /var/lib/carillon. */
  readonly sharedDir?: string;
  /** Aborts the start: started processes are stopped, and the promise rejects with the reason of the signal. */
  readonly signal?: AbortSignal;
  readonly probes?: Probes;
  readonly timer?: Timer;
}

/** `fast` ends sessions and writes a checkpoint; `immediate` leaves that to crash recovery at the next start. */
export type StopMode = "fast" | "immediate";

export interface EmbeddedPostgres {
  /** With user, password and database. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** True if the server was already running, because its former owner was killed. */
  readonly adopted: boolean;
  /** Such as "18.4". */
  readonly version: string;
  /** Resolves when the server process has ended, for any reason. */
  readonly exited: Promise<void>;
  /** Ends the server and releases the data directory. Idempotent; a later `immediate` speeds up a `fast`. */
  stop(mode?: StopMode): Promise<void>;
}
