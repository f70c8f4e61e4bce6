import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export interface Received {
  readonly path: string;
  readonly id: string;
  readonly body: { id: string; type: string; data: Record<string, unknown> };
  /** Whether one of the signatures was made with the secret, by the rules of Standard Webhooks. */
  isSignedBy(secret: string): boolean;
}

/** A real HTTP server that accepts messages, or refuses them with the configured statuses. */
export async function startReceiver() {
  const received: Received[] = [];
  const waiting: { count: number; done: () => void }[] = [];
  let statuses: number[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      received.push(toReceived(request, body));
      const status = statuses.shift() ?? 204;
      response.writeHead(status, status === 503 ? { "retry-after": "0" } : {}).end();
      for (const one of waiting) if (received.length >= one.count) one.done();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answer(...next: number[]) {
      statuses = next;
    },
    /** Resolves when this number of messages has arrived in total. */
    until: (count: number): Promise<void> =>
      new Promise((done) => {
        if (received.length >= count) done();
        else waiting.push({ count, done });
      }),
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

function toReceived({ headers, url = "" }: IncomingMessage, body: string): Received {
  const [id, at] = [String(headers["webhook-id"]), String(headers["webhook-timestamp"])];
  const signatures = String(headers["webhook-signature"] ?? "").split(" ");
  return {
    path: url,
    id,
    body: JSON.parse(body) as Received["body"],
    isSignedBy(secret) {
      const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
      const right = createHmac("sha256", key).update(`${id}.${at}.${body}`).digest();
      return signatures.some((one) => {
        const given = Buffer.from(one.replace(/^v1,/, ""), "base64");
        return given.length === right.length && timingSafeEqual(given, right);
      });
    },
  };
}
