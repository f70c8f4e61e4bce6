import type { RunPolicy } from "@carillon/core";

/** Where the trace of a piece of work was left; undefined: it is in none. */
export interface TracePlace {
  readonly traceparent: string | undefined;
  /** What vendors add to that. */
  readonly tracestate?: string | undefined;
}

/** A piece of work in somebody's trace. */
export interface CallSpan extends TracePlace {
  /** Whether anybody will see what is said of it. */
  readonly isSeen: boolean;
  run<Result>(work: () => Result): Result;
  note(attributes: Readonly<Record<string, string | number>>): void;
  fail(reason: { readonly type: string; readonly message: string; readonly stack?: string }): void;
  end(): void;
}

/** What may be asked for in a trace. */
export interface Traceable {
  readonly task: string;
  readonly policy: RunPolicy;
  readonly schedule?: { readonly kind: string };
}

/** How calls become part of traces. */
export interface TracingPort {
  beginSpan(start: { name: string; kind: "server"; parent: "active" | TracePlace }): CallSpan;
  /** Of whatever watches the process itself. */
  activeTraceParent(): string | undefined;
  /** Stores what is asked for; where the trace goes on is kept with it. */
  enqueueTraced<Spec extends Traceable, Result>(
    parent: TracePlace,
    specs: readonly Spec[],
    store: (specs: readonly Spec[]) => Promise<Result>,
  ): Promise<Result>;
}

/** Nobody watches, and nothing is kept. */
export const noTracing: TracingPort = {
  beginSpan: () => nothing,
  activeTraceParent: () => undefined,
  enqueueTraced: (_parent, specs, store) => store(specs),
};

const nothing: CallSpan = {
  traceparent: undefined,
  isSeen: false,
  run: (work) => work(),
  note: () => undefined,
  fail: () => undefined,
  end: () => undefined,
};
