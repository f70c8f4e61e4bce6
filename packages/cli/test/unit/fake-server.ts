import { vi } from "vitest";

export interface Call {
  readonly method: string;
  readonly url: string;
  readonly body: unknown;
}

/** Stands in for the server: answers each request with the next of the given bodies. */
export function serve(...answers: readonly unknown[]): Call[] {
  const left = [...answers];
  return serveBy(() => ({ body: left.length > 1 ? left.shift() : left[0] }));
}

interface Answered {
  readonly status?: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The same with an answer for each request by itself. */
export function serveBy(answer: (call: Call & { readonly headers: Headers }) => Answered): Call[] {
  const calls: Call[] = [];
  vi.stubGlobal("fetch", async (url: string, init: RequestInit = {}) => {
    const { method = "GET", body } = init;
    const call = { method, url, body: typeof body === "string" ? (JSON.parse(body) as unknown) : undefined };
    calls.push(call);
    const answered = answer({ ...call, headers: new Headers(init.headers) });
    const status = answered.status ?? 200;
    const { headers = {} } = answered;
    return new Response(status === 204 ? null : JSON.stringify(answered.body), { status, headers });
  });
  return calls;
}

export const notFound: Answered = {
  status: 404,
  body: { type: "about:blank", title: "Not found", status: 404, code: "not_found", detail: "There is none." },
};
