import { limits } from "@carillon/contract";
import { CarillonError, type DurationMs, isFinal, parseDuration } from "@carillon/core";
import type { RunView } from "@carillon/engine";
import type { ApiEngine } from "./http/handler.js";

export interface AwaitCall {
  readonly namespace: string;
  readonly query: { readonly wait?: string };
  readonly signal?: AbortSignal;
}

/** How long the caller is willing to wait, before anything is done: what cannot be read is refused first. */
export function waitOf({ wait }: AwaitCall["query"]): DurationMs {
  if (wait === undefined) return 0;
  try {
    return Math.min(parseDuration(wait), limits.waitMs);
  } catch (error) {
    if (!(error instanceof CarillonError)) throw error;
    const item = { pointer: "?wait", code: error.code, detail: error.message };
    throw new CarillonError(error.code, `?wait: ${error.message}`, { items: [item] });
  }
}

/** The run when it has ended, or as it is when the time is over. */
export async function awaitEnd(
  engine: Pick<ApiEngine, "awaitRun" | "getRun">,
  { namespace, signal }: AwaitCall,
  run: RunView,
  waitMs: DurationMs,
): Promise<RunView> {
  if (waitMs <= 0 || isFinal(run.status)) return run;
  const ended = await engine.awaitRun(namespace, run.id, { waitMs, ...(signal !== undefined && { signal }) });
  return ended ?? (await engine.getRun(namespace, run.id)) ?? run;
}
