import type { IncomingHttpHeaders } from "node:http";
import { CarillonError } from "@carillon/core";
import type { FastifyReply, FastifyRequest } from "fastify";

/** What may be under way at a time: so many calls, with bodies of so many bytes together. */
export interface BudgetLimits {
  readonly calls: number;
  readonly bytes: number;
}

/**
 * Who shares a budget. `calls` is everybody's, `waits` is of calls that wait for something to happen, `workers` is of workers: they
 * must be able to say that they live and what they have done, however many others ask for more.
 */
export type BudgetName = "calls" | "waits" | "workers";

export type IntakeLimits = Readonly<Record<BudgetName, BudgetLimits>>;

/** Calls that wait cost little, and a worker waits most of its time. */
const waitsPerCall = 5;
const workerBytes = 256 * 1_048_576;

export function intakeLimits({ calls, bytes }: BudgetLimits): IntakeLimits {
  return {
    calls: { calls, bytes },
    waits: { calls: waitsPerCall * calls, bytes },
    workers: { calls: waitsPerCall * calls, bytes: Math.max(bytes, workerBytes) },
  };
}

export const defaultIntake: BudgetLimits = { calls: 2_000, bytes: 64 * 1_048_576 };

/** What is under way now. */
export type IntakeLoad = Readonly<Record<BudgetName, BudgetLimits>>;

/** One call's share of a budget; it is given back when its answer is sent and its handler has ended, whichever is later. */
export interface Ticket {
  /** The handler begins; answers what to call when it has ended. */
  work(): () => void;
}

class Budget implements BudgetLimits {
  calls = 0;
  bytes = 0;
  readonly #limits: BudgetLimits;

  constructor(limits: BudgetLimits) {
    this.#limits = limits;
  }

  take(bytes: number): void {
    const { calls: most, bytes: mostBytes } = this.#limits;
    if (this.calls >= most) throw new CarillonError("overloaded", `${most} calls are under way.`);
    // One alone is let in whatever its size, which has a bound of its own.
    if (this.calls > 0 && this.bytes + bytes > mostBytes) {
      throw new CarillonError("overloaded", `calls with ${mostBytes} bytes are under way.`);
    }
    this.calls++;
    this.bytes += bytes;
  }

  give(bytes: number): void {
    this.calls--;
    this.bytes -= bytes;
  }
}

/** Lets calls in as long as there is room for what they bring. The others are told at once to come again, before anything is read. */
export class Intake {
  readonly #budgets: Readonly<Record<BudgetName, Budget>>;

  constructor(limits: IntakeLimits) {
    this.#budgets = {
      calls: new Budget(limits.calls),
      waits: new Budget(limits.waits),
      workers: new Budget(limits.workers),
    };
  }

  get load(): IntakeLoad {
    return this.#budgets;
  }

  /** Throws overloaded. */
  enter(name: BudgetName, request: FastifyRequest, reply: FastifyReply): Ticket {
    const budget = this.#budgets[name];
    const bytes = bytesOf(request.headers, request.routeOptions.bodyLimit);
    budget.take(bytes);
    let holders = 1;
    const letGo = (): void => {
      if (--holders === 0) budget.give(bytes);
    };
    reply.raw.once("close", letGo);
    return {
      work() {
        holders++;
        return letGo;
      },
    };
  }
}

/** A body that does not say how long it is may be as long as any. */
function bytesOf(headers: IncomingHttpHeaders, bodyLimit: number): number {
  if (headers["transfer-encoding"] !== undefined) return bodyLimit;
  const length = Number(headers["content-length"] ?? 0);
  return Number.isFinite(length) && length > 0 ? Math.min(length, bodyLimit) : 0;
}
