import { present } from "@carillon/core";
import {
  type Executor,
  type ExecutorHost,
  faultsOf,
  NonRetryableError,
  PayloadReader,
  RetryAfterError,
  type TaskContext,
} from "@carillon/worker";
import { findLibrary } from "../library.js";

export interface LambdaOptions {
  /** Where to search for @aws-sdk/client-lambda first; the working directory by default. */
  readonly cwd?: string;
}

/** What is used of @aws-sdk/client-lambda. It is an optional peer, so its types may not be there. */
interface ClientLibrary {
  readonly LambdaClient: new (options: Readonly<Record<string, unknown>>) => LambdaClient;
  readonly InvokeCommand: new (input: Readonly<Record<string, unknown>>) => object;
}

interface LambdaClient {
  readonly config: { readonly region: () => Promise<string> };
  send(command: object, options: { readonly abortSignal: AbortSignal }): Promise<Invocation>;
}

interface Invocation {
  readonly StatusCode?: number;
  readonly FunctionError?: string;
  readonly LogResult?: string;
  readonly ExecutedVersion?: string;
  readonly Payload?: Uint8Array;
}

/** The error of the library for any status but 2xx. */
interface ServiceError extends Error {
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly $response?: { readonly headers?: Readonly<Record<string, string>> };
}

const library = { name: "@aws-sdk/client-lambda", version: "3", neededBy: "The lambda executor" };
/** A function may take fifteen minutes. */
const maxCallMs = 16 * 60_000;
const connectMs = 10_000;

/** The function itself failed. */
class FunctionFailedError extends Error {
  override readonly name = "FunctionFailedError";
}

/**
 * Calls a function and waits for its answer. Region, endpoint and credentials are found by the AWS SDK: environment, profiles, SSO,
 * web identity, container and instance. The service can neither end a call nor find it again: the function gets the run's
 * idempotency key in its client context. Throws config_invalid if the SDK is not installed.
 */
export function lambdaExecutor({ env }: ExecutorHost, { cwd }: LambdaOptions = {}): Executor {
  const load = findLibrary<ClientLibrary>(library, { cwd });
  // By region. A client keeps its credentials until they expire.
  const clients = new Map<string | undefined, LambdaClient>();
  return {
    name: "lambda",
    check: (payload) => faultsOf(readLambdaPayload, payload),
    run: async (payload, context) => {
      const read = readLambdaPayload(payload);
      const { LambdaClient, InvokeCommand } = await load();
      const region = read.region ?? env["AWS_REGION"] ?? env["AWS_DEFAULT_REGION"];
      const client = clients.get(region) ?? new LambdaClient(clientOptions(region, env));
      await client.config.region().catch((error: unknown) => {
        throw new NonRetryableError("There is no AWS region: name it in the payload, or set AWS_REGION.", {
          cause: error,
        });
      });
      clients.set(region, client);
      const command = new InvokeCommand(invocationOf(read, context));
      const invocation = await client.send(command, { abortSignal: context.signal }).catch((error: unknown) => {
        throw context.signal.aborted ? context.signal.reason : failureOf(error);
      });
      return outputOf(read, invocation, context);
    },
  };
}

function clientOptions(region: string | undefined, env: ExecutorHost["env"]): Readonly<Record<string, unknown>> {
  const endpoint = env["AWS_ENDPOINT_URL_LAMBDA"] ?? env["AWS_ENDPOINT_URL"];
  const agent = { keepAlive: true, maxSockets: Infinity };
  return {
    ...present({ region, endpoint }),
    // The job's retry policy decides about another call.
    maxAttempts: 1,
    requestHandler: {
      connectionTimeout: connectMs,
      requestTimeout: maxCallMs,
      throwOnRequestTimeout: true,
      httpAgent: agent,
      httpsAgent: agent,
    },
  };
}

function invocationOf(read: LambdaPayload, context: TaskContext): Readonly<Record<string, unknown>> {
  const { runId, attempt, fence, idempotencyKey } = context;
  const custom = { run_id: runId, attempt, fence, idempotency_key: idempotencyKey };
  return {
    FunctionName: read.functionName,
    Qualifier: read.qualifier,
    InvocationType: read.isAsync ? "Event" : "RequestResponse",
    LogType: "Tail",
    ClientContext: Buffer.from(JSON.stringify({ custom })).toString("base64"),
    Payload: Buffer.from(JSON.stringify(read.event)),
  };
}

function outputOf(read: LambdaPayload, invocation: Invocation, { log }: TaskContext): unknown {
  const { StatusCode: status, ExecutedVersion: version = null, LogResult: tail = "", Payload: payload } = invocation;
  for (const line of Buffer.from(tail, "base64").toString("utf8").split("\n")) if (line !== "") log.info(line);
  if (read.isAsync) return { status };
  const text = Buffer.from(payload ?? []).toString("utf8");
  const answer = parsed(text);
  if (invocation.FunctionError === undefined) return { status, version, answer };
  const { errorType = "error", errorMessage = text.slice(0, 500) } = (answer ?? {}) as Record<string, string>;
  throw new FunctionFailedError(`The function ${read.functionName} failed: ${errorType}: ${errorMessage}`);
}

/** What the service refuses is not tried again; what did not reach it, or found it busy, is. */
function failureOf(thrown: unknown): unknown {
  if (!(thrown instanceof Error)) return thrown;
  const { name, message, $metadata, $response }: ServiceError = thrown;
  const status = $metadata?.httpStatusCode;
  if (status === undefined) return thrown;
  const detail = `Lambda answered ${status} ${name}: ${message.slice(0, 300)}`;
  const options = { cause: thrown };
  if (status !== 429 && status < 500) return new NonRetryableError(detail, options);
  const seconds = Number($response?.headers?.["retry-after"] ?? Number.NaN);
  return Number.isFinite(seconds) ? new RetryAfterError(seconds * 1_000, detail) : new Error(detail, options);
}

function parsed(text: string): unknown {
  try {
    return text === "" ? null : (JSON.parse(text) as unknown);
  } catch {
    return text;
  }
}

type LambdaPayload = ReturnType<typeof readLambdaPayload>;

/** Throws a PayloadError that names every fault. */
function readLambdaPayload(payload: unknown) {
  const reader = new PayloadReader("lambda", payload);
  const functionName = reader.requiredText("function", {
    max: 170,
    pattern: /^[A-Za-z0-9_:-]+$/,
    words: "the name or the ARN of a function",
  });
  const read = {
    functionName,
    qualifier: reader.text("qualifier", { max: 128, pattern: /^[A-Za-z0-9$_-]+$/, words: "a version or an alias" }),
    event: reader.value("event") ?? {},
    // The service queues the event and calls the function itself; the run does not wait for it.
    isAsync: reader.oneOf("invocation", ["sync", "async"]) === "async",
    region: reader.text("region", { pattern: /^[a-z]{2}(?:-[a-z]+)+-\d$/, words: "a region such as eu-west-1" }),
  };
  reader.end();
  return read;
}
