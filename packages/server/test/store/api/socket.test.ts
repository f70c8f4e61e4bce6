import { get, request } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { apiUnderTest } from "../../unit/api/api-under-test.js";

const running: { close(): Promise<unknown> }[] = [];

type Under = ReturnType<typeof apiUnderTest>;

async function listening(
  options: Parameters<typeof apiUnderTest>[0] = {},
  prepare: (api: Under) => void = () => undefined,
) {
  const api = apiUnderTest(options);
  prepare(api);
  running.push(api.app);
  await api.app.listen({ host: "127.0.0.1", port: 0 });
  return { ...api, port: (api.app.server.address() as AddressInfo).port };
}

afterEach(async () => {
  for (const app of running.splice(0)) await app.close();
});

/** Sends raw bytes, and reads until the server closes the connection. */
function exchange(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    socket.setEncoding("utf8").on("data", (part) => (answer += String(part)));
    socket.on("end", () => resolve(answer)).on("error", reject);
  });
}

function status(port: number, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get({ port, host: "127.0.0.1", path: "/livez", headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).on("error", reject);
  });
}

describe("the API on a socket", () => {
  it.each([
    ["what is not HTTP", "hello\r\n\r\n", "HTTP/1.1 400 ", "bad_request"],
    [
      "headers without end",
      `GET / HTTP/1.1\r\nHost: x\r\nX: ${"y".repeat(20_000)}\r\n\r\n`,
      "HTTP/1.1 431 ",
      "headers_too_large",
    ],
  ])("answers %s with a problem document", async (_what, text, start, code) => {
    const { port } = await listening();
    const answer = await exchange(port, text);
    expect(answer.startsWith(start)).toBe(true);
    expect(answer).toContain(`"code":"${code}"`);
  });

  it("compares the port in Host with its own port when it is restricted to loopback", async () => {
    const { port } = await listening({ dev: { loopbackOnly: true } });
    expect(await status(port, { host: `localhost:${port}` })).toBe(200);
    expect(await status(port, { host: `localhost:${port + 1}` })).toBe(403);
  });

  it("refuses new calls while it stops, and still answers probes", async () => {
    let letClose: () => void = () => undefined;
    let sayClosing: () => void = () => undefined;
    const closing = new Promise<void>((resolve) => (sayClosing = resolve));
    // Pauses the close after the API's own preparations, for as long as the test needs.
    const api = await listening({}, ({ app }) => {
      app.addHook("preClose", async () => {
        sayClosing();
        await new Promise<void>((resolve) => (letClose = resolve));
      });
    });
    const ask = (method: string, path: string) =>
      new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
        request({ port: api.port, host: "127.0.0.1", method, path, agent: false }, (response) => {
          let body = "";
          response.setEncoding("utf8").on("data", (part) => (body += String(part)));
          response.on("end", () => resolve({ status: response.statusCode, body }));
        })
          .on("error", reject)
          .end();
      });
    expect((await ask("GET", "/v1/jobs")).status).toBe(200);
    const closed = api.app.close();
    await closing;
    expect((await ask("GET", "/livez")).status).toBe(200);
    const refused = await ask("POST", "/v1/jobs");
    expect(refused).toMatchObject({ status: 503, body: expect.stringContaining('"code":"shutting_down"') });
    letClose();
    await closed;
  });
});
