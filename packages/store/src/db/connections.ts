import { CarillonError } from "@carillon/core";
import { Connector, type ConnectionSource } from "./connector.js";
import { LentPool } from "./lent-pool.js";
import { spendBudget, type ResolvedOptions } from "./options.js";
import { OwnPool, type ConnectionPool } from "./pool.js";
import type { StatementNames } from "./statement-names.js";

/** Where each kind of connection comes from, and how many there may be. */
export interface Connections {
  readonly pool: ConnectionPool;
  /** For the reserved and the hot connections. */
  readonly source: ConnectionSource;
  /** For what needs a lasting session: the direct URL where one is given. */
  readonly direct: ConnectionSource;
  /** 0: hot statements go through the pool. */
  readonly hot: number;
  /** False: the pool is too small to give a connection away for heartbeats. */
  readonly reserve: boolean;
  /** False: the pool is too small to give a connection away for LISTEN. */
  readonly listen: boolean;
  destroyAll(): void;
}

export function planConnections(options: ResolvedOptions, names: StatementNames): Connections {
  const direct = options.directUrl === undefined ? undefined : new Connector(options.directUrl, options, names);
  if (options.pool !== undefined)
    return fromLentPool(new LentPool(options.pool, options, names), direct, options.pool.options.max);
  if (options.url === undefined) throw new CarillonError("database_url_invalid", "A database URL is needed.");
  const connector = new Connector(options.url, options, names);
  const budget = spendBudget(options.poolSize);
  return {
    pool: new OwnPool(connector, budget.pool, options),
    source: connector,
    direct: direct ?? connector,
    hot: budget.hot,
    reserve: budget.reserved > 0,
    listen: true,
    destroyAll: () => {
      connector.destroyAll();
      direct?.destroyAll();
    },
  };
}

/** The application's pool is its budget: we keep connections of it only while enough remain for everything else. */
function fromLentPool(pool: LentPool, direct: Connector | undefined, size: number): Connections {
  return {
    pool,
    source: pool,
    direct: direct ?? pool,
    hot: 0,
    reserve: size >= 4,
    listen: direct !== undefined || size >= 3,
    destroyAll: () => direct?.destroyAll(),
  };
}
