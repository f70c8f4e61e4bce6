import { vi } from "vitest";

export interface Call {
  readonly method: string;
  readonly url: string;
  readonly body: unknown;
}

/** Stands in for the server: answers each request with the next of the given bodies. */
export function serve(...answers: readonly unknown[]): Call[] {
  const calls: Call[] = [];
  const left = [...answers];
  vi.stubGlobal("fetch", async (url: string, { method, body }: { method: string; body?: string }) => {
    calls.push({ method, url, body: body === undefined ? undefined : JSON.parse(body) });
    return new Response(JSON.stringify(left.length > 1 ? left.shift() : left[0]), { status: 200 });
  });
  return calls;
}
