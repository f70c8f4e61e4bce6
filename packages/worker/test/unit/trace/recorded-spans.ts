import { AsyncLocalStorage } from "node:async_hooks";
import { createRequire } from "node:module";
import {
  type Attributes,
  type Context,
  context,
  type ContextManager,
  ROOT_CONTEXT,
  type SpanContext,
  type SpanKind,
  trace,
  type TracerProvider,
} from "@opentelemetry/api";

// The package has no OpenTelemetry SDK of its own: the application provides it.
const tools = createRequire(new URL("../../../../../tools/package.json", import.meta.url));
const sdk = tools("@opentelemetry/sdk-trace-base") as Sdk;

/** The part of the SDK that the tests use. */
interface Sdk {
  readonly InMemorySpanExporter: new () => { getFinishedSpans(): FinishedSpan[] };
  readonly SimpleSpanProcessor: new (exporter: object) => object;
  readonly BasicTracerProvider: new (options: { spanProcessors: object[] }) => TracerProvider & {
    shutdown(): Promise<void>;
  };
}

interface FinishedSpan {
  readonly name: string;
  readonly kind: SpanKind;
  readonly parentSpanContext?: SpanContext;
  readonly attributes: Attributes;
  readonly status: { readonly message?: string };
  spanContext(): SpanContext;
}

export interface RecordedSpan {
  readonly name: string;
  readonly kind: SpanKind;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | undefined;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly error: string | undefined;
}

/** Registers an SDK in this process that keeps spans in memory. */
export function recordSpans() {
  const exporter = new sdk.InMemorySpanExporter();
  const provider = new sdk.BasicTracerProvider({ spanProcessors: [new sdk.SimpleSpanProcessor(exporter)] });
  context.setGlobalContextManager(new LocalContexts());
  trace.setGlobalTracerProvider(provider);
  return {
    spans: (): RecordedSpan[] =>
      exporter.getFinishedSpans().map((span) => ({
        name: span.name,
        kind: span.kind,
        traceId: span.spanContext().traceId,
        spanId: span.spanContext().spanId,
        parentId: span.parentSpanContext?.spanId,
        attributes: span.attributes,
        error: span.status.message,
      })),
    /** Executes work inside a span of the test. */
    within: (name: string, work: () => Promise<void>): Promise<void> =>
      trace.getTracer("test").startActiveSpan(name, (span) => work().finally(() => span.end())),
    async stop() {
      trace.disable();
      context.disable();
      await provider.shutdown();
    },
  };
}

/** The context manager that an SDK for Node.js would provide. */
class LocalContexts implements ContextManager {
  readonly #storage = new AsyncLocalStorage<Context>();

  active(): Context {
    return this.#storage.getStore() ?? ROOT_CONTEXT;
  }

  with<Args extends unknown[], Work extends (...args: Args) => ReturnType<Work>>(
    within: Context,
    work: Work,
    self?: ThisParameterType<Work>,
    ...args: Args
  ): ReturnType<Work> {
    return this.#storage.run(within, () => work.apply(self, args));
  }

  bind<Target>(_within: Context, target: Target): Target {
    return target;
  }

  enable(): this {
    return this;
  }

  disable(): this {
    this.#storage.disable();
    return this;
  }
}
