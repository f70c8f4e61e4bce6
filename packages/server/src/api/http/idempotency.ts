import { createHash } from "node:crypto";
import { limits, type Operation, type OperationId } from "@carillon/contract";
import { CarillonError } from "@carillon/core";
import type { Effect, KeptAnswer } from "@carillon/engine";
import type { ApiEngine, ApiResponse, Call, Handler } from "./handler.js";

/** Rebuilds the response of a call from what it created: its node died before it stored the response. */
export type Replay = (effect: Effect, call: Call<Operation>) => Promise<ApiResponse>;
export type Replays = Partial<Record<OperationId, Replay>>;

export interface KeyedOptions {
  readonly keys: ApiEngine["idempotencyKeys"];
  readonly operation: Operation;
  readonly handler: Handler<Operation>;
  readonly replay: Replay | undefined;
  readonly onLost: (error: unknown) => void;
}

const printable = /^[\x20-\x7e]+$/;

export function idempotencyKeyOf(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  const key = Array.isArray(header) ? header.join(", ") : header;
  if (printable.test(key) && key.length <= limits.idempotencyKeyLength) return key;
  const detail = `Idempotency-Key must be 1 to ${limits.idempotencyKeyLength} printable ASCII characters`;
  const pointer = "Idempotency-Key";
  throw new CarillonError("field_invalid", detail, { items: [{ pointer, code: "field_invalid", detail }] });
}

/** Runs a call once for its key; a repeated call gets the stored response. */
export async function respondOnce(options: KeyedOptions, key: string, call: Call<Operation>): Promise<ApiResponse> {
  const { keys, operation, handler, replay, onLost } = options;
  const request = fingerprint(operation, call);
  const begun = await keys.begin(call.namespace, { caller: call.actor ?? "", key, request });
  if (begun.state === "busy") {
    throw new CarillonError(
      "idempotency_in_progress",
      "The first call with this Idempotency-Key is still in progress.",
    );
  }
  if (begun.state === "other") {
    const detail = "This Idempotency-Key was used for another request; use a new key for each request.";
    throw new CarillonError("idempotency_key_reused", detail);
  }
  if (begun.state === "done") return replayed(begun.answer);
  if (begun.state === "effect") {
    if (replay === undefined) throw new Error(`The operation ${operation.path} stores an effect and has no replay.`);
    return markReplayed(await replay(begun.effect, call));
  }
  try {
    const response = await handler({ ...call, receipt: begun.receipt });
    // The effect is already stored: if this write fails, only the response is lost, and the replay rebuilds it.
    await begun.answered(toStored(response)).catch(onLost);
    return response;
  } catch (error) {
    await begun.refused().catch(onLost);
    throw error;
  }
}

function fingerprint({ method, path }: Operation, { params, query, body, ifVersion }: Call<Operation>): string {
  const request = JSON.stringify([method, path, params, query, ifVersion ?? null, body ?? null], sortMembers);
  return createHash("sha256").update(request).digest("base64url");
}

/** A caller that builds its request again may write the members in another order. */
function sortMembers(_name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function toStored({ status, headers = {}, body }: ApiResponse): KeptAnswer {
  return { status, headers, body: body === undefined ? null : JSON.stringify(body) };
}

function replayed({ status, headers, body }: KeptAnswer): ApiResponse {
  return markReplayed({ status, headers, ...(body !== null && { body: JSON.parse(body) as unknown }) });
}

function markReplayed(response: ApiResponse): ApiResponse {
  return { ...response, headers: { ...response.headers, "Idempotent-Replayed": "true" } };
}
