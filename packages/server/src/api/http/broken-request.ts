import type { Socket } from "node:net";
import { CarillonError } from "@carillon/core";
import { problemOf, problemType } from "./errors.js";

/** Answers what Node's parser could not read as HTTP, for which there is no request to reply to. */
export function answerBrokenRequest(error: Error & { code?: string }, socket: Socket, requestId: string): void {
  if (error.code === "ECONNRESET" || socket.destroyed) return;
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const { body } = problemOf(broken(error.code), requestId);
  const text = JSON.stringify(body);
  socket.end(
    `HTTP/1.1 ${body.status} ${body.title}\r\nContent-Type: ${problemType}\r\nX-Request-Id: ${requestId}\r\n` +
      `Content-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`,
  );
}

function broken(code: string | undefined): CarillonError {
  if (code === "HPE_HEADER_OVERFLOW")
    return new CarillonError("headers_too_large", "The headers are larger than 16 KiB.");
  if (code === "ERR_HTTP_REQUEST_TIMEOUT")
    return new CarillonError("bad_request", "The request did not arrive in time.");
  return new CarillonError("bad_request", "This is not a request of HTTP/1.1.");
}
