import type { RunView } from "../runs/run-view.js";
import type { DeadLetterFilter, RedriveView, ErrorGroupView } from "@carillon/store";
import type { Page, PageRequest, ChangeContext } from "../requests.js";

export interface RepeatRequest {
  /** Wrapped, because null is a payload too; absent: that of the run. */
  readonly payload?: { readonly value: unknown };
  /** Whatever the job's overlap policy says. */
  readonly force?: boolean;
}

export interface RedriveResult {
  readonly id: string;
  /** The run that takes its place. */
  readonly runId?: string;
  readonly error?: unknown;
}

/** Runs that failed for good, what is done about them, and the kinds of errors. */
export interface Failures {
  listDeadLetters(namespace: string, filter: DeadLetterFilter, page: PageRequest): Promise<Page<RunView>>;
  /** What was done about a run, oldest first. */
  redrivesOf(namespace: string, runId: string): Promise<readonly RedriveView[]>;
  /** Makes a run in the place of one that failed; asked again, answers the same run. */
  retryRun(
    namespace: string,
    runId: string,
    request: RepeatRequest,
    context: ChangeContext,
  ): Promise<{ readonly run: RunView; readonly isNew: boolean }>;
  /** Makes another run like one that has ended, every time it is asked. */
  replayRun(namespace: string, runId: string, request: RepeatRequest, context: ChangeContext): Promise<RunView>;
  /** Retries a page of dead letters, each by itself. */
  redrive(
    namespace: string,
    filter: DeadLetterFilter,
    page: PageRequest,
    context: ChangeContext,
  ): Promise<Page<RedriveResult>>;
  /** Disposes of a page of dead letters; answers those that were not disposed of before. */
  discard(
    namespace: string,
    filter: DeadLetterFilter,
    page: PageRequest,
    context: ChangeContext,
  ): Promise<Page<RedriveResult>>;
  /** Disposes of one; throws if it is no dead letter. */
  discardRun(namespace: string, runId: string, context: ChangeContext): Promise<void>;
  listErrorGroups(
    namespace: string,
    filter: { readonly task?: string },
    page: PageRequest,
  ): Promise<Page<ErrorGroupView>>;
  getErrorGroup(namespace: string, fingerprint: string): Promise<ErrorGroupView | null>;
}
