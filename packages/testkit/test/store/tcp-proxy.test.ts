import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TcpProxy, type TcpProxyOptions } from "../../src/index.js";

let echo: Server;
let proxy: TcpProxy;
let clients: Socket[];

async function start(options?: TcpProxyOptions): Promise<void> {
  const address = echo.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  proxy = await TcpProxy.start(`tcp://127.0.0.1:${port}/`, options);
}

beforeEach(async () => {
  clients = [];
  echo = createServer({ allowHalfOpen: true }, (socket) => socket.on("error", () => undefined).pipe(socket));
  echo.listen(0, "127.0.0.1");
  await once(echo, "listening");
});

afterEach(async () => {
  for (const socket of clients) socket.destroy();
  await proxy.close();
  echo.close();
});

async function client(): Promise<Socket> {
  const socket = connect(proxy.port, "127.0.0.1");
  clients.push(socket);
  await once(socket, "connect");
  return socket;
}

async function answerTo(socket: Socket, text: string): Promise<string> {
  const answer = once(socket, "data") as Promise<[Buffer]>;
  socket.write(text);
  return (await answer)[0].toString();
}

describe("the TCP proxy", () => {
  it("forwards both directions, and the end of one while the other stays open", async () => {
    await start();
    const socket = connect({ port: proxy.port, host: "127.0.0.1", allowHalfOpen: true });
    clients.push(socket);
    socket.end("last words");
    const answer: Buffer[] = [];
    for await (const chunk of socket) answer.push(chunk as Buffer);
    expect(Buffer.concat(answer).toString()).toBe("last words");
  });

  it("rewrites a URL to lead through the proxy", async () => {
    await start();
    expect(proxy.through("postgresql://u:p@db.example:5432/name")).toBe(
      `postgresql://u:p@127.0.0.1:${proxy.port}/name`,
    );
  });

  it("loseAnswerTo resets one connection instead of the response, after the request arrived", async () => {
    await start();
    const [loser, other] = [await client(), await client()];
    const arrived: string[] = [];
    proxy.loseAnswerTo("fire");
    expect(await answerTo(other, "load")).toBe("load");
    loser.on("data", (chunk) => arrived.push(String(chunk)));
    // `once` would reject with the error.
    const reset = new Promise<NodeJS.ErrnoException>((resolve) => loser.once("error", resolve));
    loser.write("fire 1");
    expect((await reset).code).toBe("ECONNRESET");
    expect(arrived).toEqual([]);
    expect(await answerTo(other, "fire 2")).toBe("fire 2");
  });

  it("cut resets every connection and accepts new ones", async () => {
    await start();
    const first = await client();
    expect(await answerTo(first, "a")).toBe("a");
    proxy.cut();
    await expect(once(first, "end")).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(await answerTo(await client(), "b")).toBe("b");
  });

  it("a black hole holds back old and new connections until it resumes", async () => {
    await start();
    const old = await client();
    expect(await answerTo(old, "a")).toBe("a");
    const held = proxy.blackHole();
    const answers = [answerTo(old, "b"), answerTo(await client(), "c")];
    await held;
    await proxy.resume();
    expect(await Promise.all(answers)).toEqual(["b", "c"]);
  });

  it("refuse keeps old connections and refuses new ones until it resumes on the same port", async () => {
    await start();
    const old = await client();
    expect(await answerTo(old, "a")).toBe("a");
    const { port } = proxy;
    await proxy.refuse();
    await expect(client()).rejects.toMatchObject({ code: "ECONNREFUSED" });
    expect(await answerTo(old, "b")).toBe("b");
    await proxy.resume();
    expect(proxy.port).toBe(port);
    expect(await answerTo(await client(), "c")).toBe("c");
  });

  it("delay applies to each direction", async () => {
    await start();
    const socket = await client();
    proxy.delay(30);
    const before = performance.now();
    expect(await answerTo(socket, "a")).toBe("a");
    expect(performance.now() - before).toBeGreaterThan(55);
  });

  it("the filter receives and replaces chunks", async () => {
    await start({ filter: (chunk, from) => Buffer.from(`${from}(${chunk.toString()})`) });
    expect(await answerTo(await client(), "a")).toBe("server(client(a))");
  });
});
