import type { Instant } from "@carillon/core";
import type { AddressRules, ResolveHost } from "../outbound/addresses.js";
import type { Task } from "../runtime/task.js";
import type { WorkerTimers } from "../runtime/timers.js";

/**
 * A task that needs no code of the user: its payload is its program. `check` returns the faults of a payload; a server that has the
 * executor calls it when a job is created, and the executor itself refuses such a payload when it runs.
 */
export interface Executor extends Task {
  readonly check: (payload: unknown) => readonly PayloadFault[];
}

/** A fault of a payload and its place, as a JSON pointer into the payload. */
export interface PayloadFault {
  readonly pointer: string;
  readonly message: string;
  /** Left out: the payload does not have the form that the executor needs. */
  readonly code?: "address_refused";
}

/** What a worker provides to its executors. */
export interface ExecutorHost {
  readonly timers: WorkerTimers;
  readonly now: () => Instant;
  readonly secrets: Secrets;
  /** Which addresses jobs may connect to. */
  readonly outbound: AddressRules;
  readonly resolve?: ResolveHost;
  /** The address at which other systems reach a server with their callbacks; null while it is unknown. */
  readonly callbackBase?: () => string | null;
  /** Settings of the worker, such as the address of a mail server. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The type of `createExecutors`, which every package of executors exports. */
export type CreateExecutors = (host: ExecutorHost) => readonly Executor[];

/** Provides the secrets that payloads name but must not contain. */
export interface Secrets {
  /** Undefined if there is no secret of this name. */
  find(name: string): Promise<string | undefined>;
}

export const secretName = /^[A-Za-z][A-Za-z0-9_]{0,99}$/;
const prefix = "CARILLON_SECRET_";

/** Secrets from the worker's environment: `api_token` is CARILLON_SECRET_API_TOKEN. */
export function environmentSecrets(env: Readonly<Record<string, string | undefined>>): Secrets {
  return {
    find: (name) => Promise.resolve(secretName.test(name) ? env[`${prefix}${name.toUpperCase()}`] : undefined),
  };
}
