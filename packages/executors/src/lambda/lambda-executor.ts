import {
  type CreateExecutors,
  type Executor,
  type ExecutorHost,
  faultsOf,
  type HttpAnswer,
  httpCall,
  NonRetryableError,
  RetryAfterError,
  type TaskContext,
} from "@carillon/worker";
import { type LambdaPayload, readLambdaPayload } from "./lambda-payload.js";
import { type Credentials, signV4 } from "./sign-v4.js";

/** A function may take fifteen minutes. */
const longestCallMs = 16 * 60_000;
const answerBytes = 6_291_456;

/** The function itself failed. */
export class FunctionFailedError extends Error {
  override readonly name = "FunctionFailedError";
}

/**
 * Calls a function and waits for its answer. Credentials and region come from the worker's environment (AWS_ACCESS_KEY_ID,
 * AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION, AWS_ENDPOINT_URL_LAMBDA). The service cannot end a call or tell that it
 * was made before: the function is given the run's idempotency key in its client context.
 */
export function lambdaExecutor(host: ExecutorHost): Executor {
  return {
    name: "lambda",
    check: (payload) => faultsOf(readLambdaPayload, payload),
    run: async (payload, context) => {
      const read = readLambdaPayload(payload);
      const answer = await invoke(read, context, host);
      logTail(answer, context);
      return judged(read, answer);
    },
  };
}

export const createExecutors: CreateExecutors = (host) => [lambdaExecutor(host)];
export { signV4 };

function invoke(read: LambdaPayload, context: TaskContext, host: ExecutorHost): Promise<HttpAnswer> {
  const { env, now, timers } = host;
  const region = read.region ?? env["AWS_REGION"] ?? env["AWS_DEFAULT_REGION"];
  if (region === undefined) throw new NonRetryableError("no region: say region, or set AWS_REGION");
  const given = env["AWS_ENDPOINT_URL_LAMBDA"] ?? env["AWS_ENDPOINT_URL"];
  const url = new URL(
    `/2015-03-31/functions/${encodeURIComponent(read.functionName)}/invocations`,
    given ?? `https://lambda.${region}.amazonaws.com`,
  );
  if (read.qualifier !== undefined) url.searchParams.set("Qualifier", read.qualifier);
  const { runId, attempt, fence, idempotencyKey } = context;
  const custom = { run_id: runId, attempt, fence, idempotency_key: idempotencyKey };
  const body = JSON.stringify(read.event);
  const headers = signV4(
    {
      method: "POST",
      url,
      headers: {
        "content-type": "application/json",
        "x-amz-invocation-type": read.isAsync ? "Event" : "RequestResponse",
        "x-amz-log-type": "Tail",
        "x-amz-client-context": Buffer.from(JSON.stringify({ custom })).toString("base64"),
      },
      body,
      region,
      service: "lambda",
      at: now(),
    },
    credentialsOf(env),
  );
  const limits = { firstByteMs: longestCallMs, totalMs: longestCallMs, mostBytes: answerBytes };
  return httpCall({ url, method: "POST", headers, body, signal: context.signal, timers, ...limits });
}

function credentialsOf(env: ExecutorHost["env"]): Credentials {
  const [accessKeyId, secretAccessKey] = [env["AWS_ACCESS_KEY_ID"], env["AWS_SECRET_ACCESS_KEY"]];
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new NonRetryableError("this worker has no AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
  const sessionToken = env["AWS_SESSION_TOKEN"];
  return { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) };
}

/** The last lines that the function wrote come with its answer. */
function logTail({ headers }: HttpAnswer, { log }: TaskContext): void {
  const tail = headers["x-amz-log-result"];
  if (tail === undefined) return;
  for (const line of Buffer.from(tail, "base64").toString("utf8").split("\n")) if (line !== "") log.info(line);
}

function judged(read: LambdaPayload, { status, headers, body }: HttpAnswer): unknown {
  const text = body.toString("utf8");
  if (status < 200 || status >= 300) throw refusal(status, headers, text);
  if (read.isAsync) return { status };
  const answer = parsed(text);
  if (headers["x-amz-function-error"] === undefined) {
    return { status, version: headers["x-amz-executed-version"] ?? null, answer };
  }
  const { errorType = "error", errorMessage = text.slice(0, 500) } = (answer ?? {}) as Record<string, string>;
  throw new FunctionFailedError(`${read.functionName} failed: ${errorType}: ${errorMessage}`);
}

function refusal(status: number, headers: HttpAnswer["headers"], text: string): Error {
  const message = `lambda answered ${status} ${headers["x-amzn-errortype"] ?? ""}: ${text.slice(0, 300)}`;
  if (status !== 429 && status < 500) return new NonRetryableError(message);
  const seconds = Number(headers["retry-after"] ?? Number.NaN);
  return Number.isFinite(seconds) ? new RetryAfterError(seconds * 1_000, message) : new Error(message);
}

function parsed(text: string): unknown {
  try {
    return text === "" ? null : (JSON.parse(text) as unknown);
  } catch {
    return text;
  }
}
