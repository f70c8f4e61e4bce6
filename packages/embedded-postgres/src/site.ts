import type { Binaries } from "./binaries/binaries.js";
import type { Account } from "./data-dir/account.js";
import type { DataDir } from "./data-dir/data-dir.js";
import type { Home } from "./data-dir/home.js";
import type { ProbeName } from "./options.js";
import type { Timer } from "./timer.js";

/** The name of the superuser and of the database in every cluster. */
export const DATABASE = "carillon";

/** A data directory with everything that its server needs. */
export interface Site {
  readonly dataDir: DataDir;
  readonly home: Home;
  readonly account: Account | undefined;
  readonly binaries: Binaries;
  readonly timer: Timer;
  readonly signal: AbortSignal | undefined;
  readonly log: (line: string) => void;
  readonly probe: (name: ProbeName) => Promise<void>;
}
