import { CarillonError, systemClock } from "@carillon/core";
import { AddressRules, environmentSecrets, type ExecutorHost, type WorkerTimers } from "@carillon/worker";

export interface HostOptions {
  readonly timers: WorkerTimers;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly callbackBase?: () => string | null;
  /** Addresses that jobs may reach although they are not public. */
  readonly outboundAllowlist: readonly string[];
}

/** The host that this process gives its executors. Throws config_invalid for an entry of the allowlist that cannot be read. */
export function createExecutorHost({ timers, env, outboundAllowlist, callbackBase }: HostOptions): ExecutorHost {
  return {
    timers,
    env,
    ...(callbackBase !== undefined && { callbackBase }),
    now: () => systemClock.now(),
    secrets: environmentSecrets(env),
    outbound: rulesOf(outboundAllowlist),
  };
}

function rulesOf(allow: readonly string[]): AddressRules {
  try {
    return new AddressRules(allow);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new CarillonError("config_invalid", `Allowlist of outbound addresses: ${error.message}.`, { cause: error });
  }
}
