import type { IncomingHttpHeaders } from "node:http";
import { CarillonError } from "@carillon/core";

/** The parts of a request that show its origin. */
export interface RequestOrigin {
  readonly headers: IncomingHttpHeaders;
  /** The port that received the request; undefined without a socket. */
  readonly localPort: number | undefined;
}

const loopbackHost = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::(\d{1,5}))?$/i;

/**
 * Refuses requests that a web page could have caused, on a server without authentication. A page whose own name was made to
 * resolve to 127.0.0.1 shows in Host; a page of another site shows in Origin, or in Sec-Fetch-Site when a browser sends no
 * Origin. Programs send neither of the last two.
 */
export function assertLoopbackCaller({ headers, localPort }: RequestOrigin): void {
  const host = headers.host ?? "";
  const found = loopbackHost.exec(host);
  if (found === null || (localPort !== undefined && Number(found[1] ?? 80) !== localPort)) {
    const expected = `localhost:${localPort ?? 8023}`;
    throw new CarillonError(
      "host_refused",
      `The Host header is ${JSON.stringify(host)}; without authentication this server accepts ${expected} only.`,
    );
  }
  const { origin } = headers;
  if (origin !== undefined && origin.toLowerCase() !== `http://${host.toLowerCase()}`) {
    throw new CarillonError("origin_refused", `The page ${JSON.stringify(origin)} may not call this server.`);
  }
  if (isFromOtherSite(headers))
    throw new CarillonError("origin_refused", "A page of another site may not call this server.");
}

/** A link from another site to this server may be followed; a page of another site may not load from it. */
function isFromOtherSite(headers: IncomingHttpHeaders): boolean {
  const site = headers["sec-fetch-site"];
  return (site === "cross-site" || site === "same-site") && headers["sec-fetch-mode"] !== "navigate";
}

/** Sent with every response: it is data for its caller, and must not be framed, sniffed, cached or loaded by other sites. */
export const securityHeaders = {
  "Cache-Control": "no-store",
  "Content-Security-Policy":
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
} as const;
