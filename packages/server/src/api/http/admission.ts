import type { IncomingHttpHeaders } from "node:http";
import { CarillonError } from "@carillon/core";
import type { FastifyReply, FastifyRequest } from "fastify";

/** Calls in flight, and the bytes of their bodies together. */
export interface BudgetLimits {
  readonly calls: number;
  readonly bytes: number;
}

/**
 * `calls` is the general budget, `waits` is for calls that wait for an event, `workers` is for workers: their heartbeats and
 * results must get through however many other calls there are.
 */
export type BudgetName = "calls" | "waits" | "workers";

export type AdmissionLimits = Readonly<Record<BudgetName, BudgetLimits>>;

/** Waiting calls cost little, and a worker's calls mostly wait. */
const waitsPerCall = 5;
const minWorkerBytes = 256 * 1_048_576;

export function admissionLimits({ calls, bytes }: BudgetLimits): AdmissionLimits {
  return {
    calls: { calls, bytes },
    waits: { calls: waitsPerCall * calls, bytes },
    workers: { calls: waitsPerCall * calls, bytes: Math.max(bytes, minWorkerBytes) },
  };
}

export const defaultAdmission: BudgetLimits = { calls: 2_000, bytes: 64 * 1_048_576 };

/** The calls in flight now, by budget. */
export type AdmissionLoad = Readonly<Record<BudgetName, BudgetLimits>>;

/** One call's share of a budget; released when its response was sent and its handler has ended, whichever is later. */
export interface Ticket {
  /** Marks the start of the handler; returns the function to call at its end. */
  begin(): () => void;
}

class Budget implements BudgetLimits {
  calls = 0;
  bytes = 0;
  readonly #limits: BudgetLimits;

  constructor(limits: BudgetLimits) {
    this.#limits = limits;
  }

  take(bytes: number): void {
    const { calls: maxCalls, bytes: maxBytes } = this.#limits;
    if (this.calls >= maxCalls) throw new CarillonError("overloaded", `This node has ${maxCalls} calls in flight.`);
    // A single call is always admitted: its body has a limit of its own.
    if (this.calls > 0 && this.bytes + bytes > maxBytes) {
      throw new CarillonError("overloaded", `This node has calls with ${maxBytes} bytes in flight.`);
    }
    this.calls++;
    this.bytes += bytes;
  }

  release(bytes: number): void {
    this.calls--;
    this.bytes -= bytes;
  }
}

/** Admits calls while their budget has room. Others are refused at once, before their body is read. */
export class Admission {
  readonly #budgets: Readonly<Record<BudgetName, Budget>>;

  constructor(limits: AdmissionLimits) {
    this.#budgets = {
      calls: new Budget(limits.calls),
      waits: new Budget(limits.waits),
      workers: new Budget(limits.workers),
    };
  }

  get load(): AdmissionLoad {
    return this.#budgets;
  }

  /** Throws overloaded. */
  enter(name: BudgetName, request: FastifyRequest, reply: FastifyReply): Ticket {
    const budget = this.#budgets[name];
    const bytes = bytesOf(request.headers, request.routeOptions.bodyLimit);
    budget.take(bytes);
    let holders = 1;
    const release = (): void => {
      if (--holders === 0) budget.release(bytes);
    };
    reply.raw.once("close", release);
    return {
      begin() {
        holders++;
        return release;
      },
    };
  }
}

/** A body without a length counts with the largest size it may have. */
function bytesOf(headers: IncomingHttpHeaders, bodyLimit: number): number {
  if (headers["transfer-encoding"] !== undefined) return bodyLimit;
  const length = Number(headers["content-length"] ?? 0);
  return Number.isFinite(length) && length > 0 ? Math.min(length, bodyLimit) : 0;
}
