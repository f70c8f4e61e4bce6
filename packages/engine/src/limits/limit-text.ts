import { createHash } from "node:crypto";
import type { KeyedLimit, LimitScope, OrderFailure } from "@carillon/core";

/** Where the runs of a gate belong. */
export interface GateOwner {
  readonly namespaceId: number;
  readonly queue: string;
}

/**
 * The limits of a run as one text, a line each; the first line is its gate. Runs of one gate wait in one line: those with an ordering key
 * behind that key, the others together with all runs that have the same queue and limits, so that room for one is room for the next.
 */
export function limitText(limits: readonly KeyedLimit[], { namespaceId, queue }: GateOwner): string {
  const lines = limits.map(lineOf);
  const order = limits.find((limit) => limit.kind === "order");
  const gate =
    order === undefined ? `g:${md5([namespaceId, queue, ...lines].join("\n"))}` : `o:${namespaceId}:${order.name}`;
  return [gate, ...lines].join("\n");
}

export function gateOf(text: string): string {
  const end = text.indexOf("\n");
  return end === -1 ? text : text.slice(0, end);
}

export function isOrdered(gate: string): boolean {
  return gate.startsWith("o:");
}

export function limitsIn(text: string): KeyedLimit[] {
  return text.split("\n").slice(1).map(limitOf);
}

function lineOf({ scope, kind, name, limit, perMs, burst, onFailure }: KeyedLimit): string {
  if (kind === "order") return ["o", onFailure ?? "block", name].join("\t");
  if (kind === "concurrency") return ["c", scope, limit, name].join("\t");
  return ["r", scope, limit, perMs, burst, name].join("\t");
}

function limitOf(line: string): KeyedLimit {
  const [kind, ...rest] = line.split("\t");
  const none = { perMs: null, burst: null, onFailure: null };
  if (kind === "o") {
    const [onFailure, name = ""] = rest;
    return { scope: "key", kind: "order", name, limit: 1, ...none, onFailure: onFailure as OrderFailure };
  }
  if (kind === "c") {
    const [scope, limit, name = ""] = rest;
    return { scope: scope as LimitScope, kind: "concurrency", name, limit: Number(limit), ...none };
  }
  const [scope, limit, perMs, burst, name = ""] = rest;
  const rate = { limit: Number(limit), perMs: Number(perMs), burst: Number(burst), onFailure: null };
  return { scope: scope as LimitScope, kind: "rate", name, ...rate };
}

function md5(text: string): string {
  return createHash("md5").update(text).digest("hex");
}
