import { CarillonError } from "@carillon/core";
import type { IncomingHttpHeaders } from "node:http";

/** The parts of a request that tell who may be behind it. */
export interface Caller {
  readonly headers: IncomingHttpHeaders;
  /** The port that the request came in on; undefined where there is no socket. */
  readonly localPort: number | undefined;
}

const loopbackHost = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::(\d{1,5}))?$/i;

/**
 * Refuses what a web page could have caused, on a server that asks nobody for a key. A page whose own name was made to
 * resolve to 127.0.0.1 shows in Host; a page of another origin shows in Origin, or in Sec-Fetch-Site where a browser
 * sends no Origin. Programs send neither of the latter.
 */
export function assertLoopbackCaller({ headers, localPort }: Caller): void {
  const host = headers.host ?? "";
  const found = loopbackHost.exec(host);
  if (found === null || (localPort !== undefined && Number(found[1] ?? 80) !== localPort)) {
    const right = `localhost:${localPort ?? 8023}`;
    throw new CarillonError(
      "host_refused",
      `The Host header is ${JSON.stringify(host)}; without authentication this server answers to ${right} only.`,
    );
  }
  const { origin } = headers;
  if (origin !== undefined && origin.toLowerCase() !== `http://${host.toLowerCase()}`) {
    throw new CarillonError("origin_refused", `The page ${JSON.stringify(origin)} may not call this server.`);
  }
  if (fromForeignPage(headers))
    throw new CarillonError("origin_refused", "A page of another site may not call this server.");
}

/** Following a link to this server is what people do; loading something from it inside a foreign page is not. */
function fromForeignPage(headers: IncomingHttpHeaders): boolean {
  const site = headers["sec-fetch-site"];
  return (site === "cross-site" || site === "same-site") && headers["sec-fetch-mode"] !== "navigate";
}
