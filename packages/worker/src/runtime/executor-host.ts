import type { Instant } from "@carillon/core";
import type { AddressRules } from "../outbound/address-rules.js";
import type { ResolveHost } from "../outbound/resolve-host.js";
import type { Secrets } from "../secrets/secrets.js";
import type { Executor } from "./task.js";
import type { WorkerTimers } from "./timers.js";

/** What a worker gives its executors. */
export interface ExecutorHost {
  readonly timers: WorkerTimers;
  readonly now: () => Instant;
  readonly secrets: Secrets;
  /** Which addresses jobs may reach. */
  readonly outbound: AddressRules;
  readonly resolve?: ResolveHost;
  /** Where callbacks arrive: the address of a server as others reach it; null while it is not known. */
  readonly callbackBase?: () => string | null;
  /** Settings of the worker's own, such as the address of a mail server. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What a package of executors exports under the name `createExecutors`. */
export type CreateExecutors = (host: ExecutorHost) => readonly Executor[];
