import { CarillonError, type Instant } from "@carillon/core";
import type { ChangeContext, JobRef, JobView, Page, PageRequest, RunView } from "@carillon/engine";
import type { ApiEngine } from "../../../src/api/http/handler.js";

/** A component of the engine, as the API calls it. */
export type Port<Name extends keyof ApiEngine> = ApiEngine[Name];

/** What the components of a fake engine share. */
export class FakeState {
  readonly now: () => Instant;
  /** Newest first. */
  readonly jobs: JobView[] = [];
  /** Newest first. */
  readonly runs: RunView[] = [];
  /** Thrown by the next call, once. */
  failure: Error | undefined;

  constructor(now: () => Instant) {
    this.now = now;
  }

  failOnce(): void {
    const { failure } = this;
    this.failure = undefined;
    if (failure !== undefined) throw failure;
  }

  findJob(ref: JobRef): JobView | null {
    this.failOnce();
    return this.jobs.find((job) => ("id" in ref ? job.id === ref.id : job.key === ref.key)) ?? null;
  }

  /** Throws not_found. */
  requireJob(ref: JobRef): JobView {
    const job = this.findJob(ref);
    if (job === null) throw new CarillonError("not_found", "there is no such job");
    return job;
  }

  /** Throws not_found. */
  requireRun(id: string): RunView {
    this.failOnce();
    const run = this.runs.find((one) => one.id === id);
    if (run === undefined) throw new CarillonError("not_found", "there is no such run");
    return run;
  }
}

export class FakeComponent {
  protected readonly state: FakeState;

  constructor(state: FakeState) {
    this.state = state;
  }
}

/** A component whose views are stored, listed and found by name. */
export class FakeNamedComponent<View extends object> extends FakeComponent {
  readonly stored = new Map<string, View>();

  async list(_namespace: string, page: PageRequest): Promise<Page<View>> {
    return pageByName(this.stored, page);
  }

  async get(_namespace: string, name: string): Promise<View | null> {
    return this.stored.get(name) ?? null;
  }
}

export function pageByName<View>(views: ReadonlyMap<string, View>, page: PageRequest): Page<View> {
  const sorted = [...views].sort(([one], [other]) => (one < other ? -1 : 1));
  const { rows, next } = pageBy(sorted, page, ([name]) => name);
  return { rows: rows.map(([, view]) => view), next };
}

export function pageOf<Row extends { readonly id: string }>(rows: readonly Row[], page: PageRequest): Page<Row> {
  return pageBy(rows, page, (row) => row.id);
}

export function pageBy<Row>(
  rows: readonly Row[],
  { after, pageSize, oldestFirst = false }: PageRequest,
  placeOf: (row: Row) => string,
): Page<Row> {
  const sorted = oldestFirst ? rows.toReversed() : rows;
  const from = after === undefined ? 0 : sorted.findIndex((row) => placeOf(row) === after) + 1;
  const shown = sorted.slice(from, from + pageSize);
  const last = shown.at(-1);
  return { rows: shown, next: last !== undefined && from + pageSize < sorted.length ? placeOf(last) : null };
}

/** Throws precondition_failed when the caller requires another version. */
export function checkVersion({ ifVersion }: Pick<ChangeContext, "ifVersion">, version: number | undefined): void {
  if (ifVersion === undefined || ifVersion === version) return;
  throw new CarillonError("precondition_failed", `the version is ${version ?? "none"}, not ${ifVersion}`);
}

export function uuid(number: number): string {
  return `0190aaaa-0000-7000-8000-${number.toString(16).padStart(12, "0")}`;
}
