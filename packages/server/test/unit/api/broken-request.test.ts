import { Socket } from "node:net";
import { describe, expect, it, vi } from "vitest";
import { answerBrokenRequest } from "../../../src/api/http/errors.js";

function answered(code: string, writable = true) {
  const socket = new Socket();
  const end = vi.spyOn(socket, "end").mockReturnValue(socket);
  vi.spyOn(socket, "writable", "get").mockReturnValue(writable);
  answerBrokenRequest(Object.assign(new Error("broken"), { code }), socket, "req_1");
  return { socket, text: end.mock.calls[0]?.[0] as unknown };
}

describe("bytes that are not HTTP", () => {
  it.each([
    ["HPE_INVALID_METHOD", "HTTP/1.1 400 ", "bad_request"],
    ["ERR_HTTP_REQUEST_TIMEOUT", "HTTP/1.1 400 ", "bad_request"],
    ["HPE_HEADER_OVERFLOW", "HTTP/1.1 431 ", "headers_too_large"],
  ])("%s get %s and a problem document", (code, start, problem) => {
    const [head = "", body = ""] = String(answered(code).text).split("\r\n\r\n");
    expect(head).toContain(start);
    expect(head).toContain("Content-Type: application/problem+json");
    expect(head).toContain(`Content-Length: ${Buffer.byteLength(body)}`);
    expect(JSON.parse(body)).toMatchObject({ code: problem, request_id: "req_1" });
  });

  it("broken bytes of a caller that disconnected get no response", () => {
    expect(answered("ECONNRESET").text).toBeUndefined();
    const { socket, text } = answered("HPE_INVALID_METHOD", false);
    expect(text).toBeUndefined();
    expect(socket.destroyed).toBe(true);
  });
});
