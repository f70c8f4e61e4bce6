import { createHash } from "node:crypto";
import { limits, type Operation, type OperationId } from "@carillon/contract";
import { CarillonError } from "@carillon/core";
import type { Effect, KeptAnswer, Receipts } from "@carillon/engine";
import type { Call, CallAnswer, Handler } from "./call.js";

/** Says again what a call had made whose answer was never kept: its node died in between. */
export type Recall = (effect: Effect, call: Call<Operation>) => Promise<CallAnswer>;
export type Recalls = Partial<Record<OperationId, Recall>>;

export interface KeyedOptions {
  readonly receipts: Receipts;
  readonly operation: Operation;
  readonly handler: Handler<Operation>;
  readonly recall: Recall | undefined;
  readonly onLost: (error: unknown) => void;
}

const printable = /^[\x20-\x7e]+$/;

/** The key of a call; undefined where it has none. */
export function idempotencyKeyOf(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  const key = Array.isArray(header) ? header.join(", ") : header;
  if (printable.test(key) && key.length <= limits.idempotencyKeyLength) return key;
  const detail = `Idempotency-Key must be 1 to ${limits.idempotencyKeyLength} printable ASCII characters`;
  const pointer = "Idempotency-Key";
  throw new CarillonError("field_invalid", detail, { items: [{ pointer, code: "field_invalid", detail }] });
}

/** Answers a call that may be repeated: the first time by doing it, later with what was answered then. */
export async function answerOnce(options: KeyedOptions, key: string, call: Call<Operation>): Promise<CallAnswer> {
  const { receipts, operation, handler, recall, onLost } = options;
  const request = fingerprint(operation, call);
  const begun = await receipts.beginCall(call.namespace, { caller: call.actor ?? "", key, request });
  if (begun.state === "busy") {
    throw new CarillonError("idempotency_in_progress", "The first call with this Idempotency-Key is still under way.");
  }
  if (begun.state === "other") {
    const detail = "This Idempotency-Key was used for another request; make one key for each request.";
    throw new CarillonError("idempotency_key_reused", detail);
  }
  if (begun.state === "done") return replayed(begun.answer);
  if (begun.state === "effect") {
    if (recall === undefined) throw new Error(`${operation.path} keeps an effect and cannot recall it`);
    return withMark(await recall(begun.effect, call));
  }
  try {
    const answer = await handler({ ...call, receipt: begun.receipt });
    // What was done is on record; only the wording of its answer would be lost.
    await begun.answered(keptAnswer(answer)).catch(onLost);
    return answer;
  } catch (error) {
    await begun.refused().catch(onLost);
    throw error;
  }
}

function fingerprint({ method, path }: Operation, { params, query, body, ifVersion }: Call<Operation>): string {
  const asked = JSON.stringify([method, path, params, query, ifVersion ?? null, body ?? null], inOrder);
  return createHash("sha256").update(asked).digest("base64url");
}

/** Whoever makes the request anew may write its members in another order. */
function inOrder(_name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function keptAnswer({ status, headers = {}, body }: CallAnswer): KeptAnswer {
  return { status, headers, body: body === undefined ? null : JSON.stringify(body) };
}

function replayed({ status, headers, body }: KeptAnswer): CallAnswer {
  return withMark({ status, headers, ...(body !== null && { body: JSON.parse(body) as unknown }) });
}

function withMark(answer: CallAnswer): CallAnswer {
  return { ...answer, headers: { ...answer.headers, "Idempotent-Replayed": "true" } };
}
