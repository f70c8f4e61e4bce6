import type { LimitChange, Limits, ListedLimit, Page, RunLimitsView } from "@carillon/engine";
import { FakeQueues } from "./fake-queues.js";

/** Limits in memory: stored and shown, without any effect. */
export class FakeLimits extends FakeQueues implements Limits {
  readonly limits = new Map<number, ListedLimit>();

  async listLimits(): Promise<Page<ListedLimit>> {
    this.failOnce();
    return { rows: [...this.limits.values()], next: null };
  }

  async getLimit(_namespace: string, id: number): Promise<ListedLimit | null> {
    this.failOnce();
    return this.limits.get(id) ?? null;
  }

  async changeLimit(_namespace: string, id: number, change: LimitChange): Promise<ListedLimit | null> {
    this.failOnce();
    const before = this.limits.get(id);
    if (before === undefined) return null;
    const after = { ...before, isFixed: true, ...change };
    this.limits.set(id, after);
    return after;
  }

  async resumeLimit(_namespace: string, id: number): Promise<ListedLimit | null> {
    this.failOnce();
    const before = this.limits.get(id);
    return before === undefined ? null : { ...before, stoppedBy: null };
  }

  async limitsOf(): Promise<RunLimitsView | null> {
    return null;
  }
}
