import { checkOptions, limits, type Option, option, webAddressPattern } from "@carillon/contract/check";
import type { ClientOptions } from "./transport.js";

const { callable, duration, number, object, required, signal, text, whole } = option;

/** A longer timer would fire at once. */
const maxTimerMs = 2_147_483_647;
const timeoutMs = whole(1, maxTimerMs);

export const clientOptions = object(
  {
    url: required(text({ pattern: webAddressPattern, examples: ["http://127.0.0.1:8023"] })),
    token: text({ minLength: 1 }),
    namespace: text({ minLength: 1 }),
    headers: callable<NonNullable<ClientOptions["headers"]>>(),
    fetch: callable<typeof fetch>(),
    timeoutMs,
    sleep: callable<NonNullable<ClientOptions["sleep"]>>(),
    maxQuotaWaitMs: number(0),
    onWait: callable<NonNullable<ClientOptions["onWait"]>>(),
  },
  {
    title: "ClientOptions",
    examples: [{ url: "http://127.0.0.1:8023" }],
    hints: {
      baseurl: "Write url.",
      server: "Write url.",
      host: "Write url.",
      endpoint: "Write url.",
      apikey: "Write token.",
      key: "Write token.",
      timeout: "Write timeoutMs: 30_000.",
    },
  },
);

const always = { signal, timeoutMs, onStatus: callable<(status: number) => void>() };
const post = { idempotencyKey: text({ minLength: 1, maxLength: limits.idempotencyKeyLength }) };
const change = { ifVersion: whole(1) };

export const callOptions = {
  get: object(always),
  post: object({ ...always, ...post, ...change }),
  waitingPost: object({ ...always, ...post, ...change, wait: duration("10s") }),
  waitingGet: object({ ...always, wait: duration("10s") }),
  change: object({ ...always, ...change }),
} as const;

/** What a check must know of the operation that a method calls. */
interface CalledRoute {
  readonly id: string;
  /** The method and the path. */
  readonly call: string;
  readonly wait?: true;
}

/** Checks the options of one call of the client. */
export function checkCallOptions(route: CalledRoute, options: unknown): void {
  checkOptions(schemaOf(route), options, { name: route.id });
}

function schemaOf({ call, wait }: CalledRoute): Option<unknown> {
  if (call.startsWith("GET ")) return wait === true ? callOptions.waitingGet : callOptions.get;
  if (call.startsWith("POST ")) return wait === true ? callOptions.waitingPost : callOptions.post;
  return callOptions.change;
}

export const followOptions = object({ signal, sleep: callable<(ms: number) => Promise<void>>() });
