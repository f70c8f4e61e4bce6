import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { systemClock, systemSoon, systemTimers } from "@carillon/core";
import { expect, it, onTestFinished } from "vitest";
import { HttpTransport } from "../../../src/transport/http/http-transport.js";

const timers = { ...systemTimers, monotonic: () => systemClock.monotonic(), soon: systemSoon };
const unknownField = JSON.stringify({ code: "unknown_field", errors: [{ pointer: "/defaults" }] });
const session = JSON.stringify({ id: "wrk_1", heartbeat_ms: 60_000, timeout_ms: 60_000, poll_ms: 60_000 });
const nothing = (): void => undefined;
const heartbeat = () => ({ acknowledged: 0, setHolding: nothing, pollAnswered: nothing, stop: nothing });
const events = {
  onAssign: nothing,
  onStop: nothing,
  onLost: nothing,
  onDisconnected: nothing,
  onDrain: nothing,
  onFailure: nothing,
};

it("registers again without the defaults of tasks when a server of an older version refuses them", async () => {
  const registered: object[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (part: Buffer) => (text += part.toString()));
    request.on("end", () => {
      const body = JSON.parse(text || "{}") as object;
      const isRegistration = request.url === "/v1/workers:register";
      if (isRegistration) registered.push(body);
      if (!isRegistration) response.writeHead(204).end();
      else if ("defaults" in body) response.writeHead(400).end(unknownField);
      else response.writeHead(201).end(session);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const transport = new HttpTransport({ urls: [url], timers, random: () => 0.5, heartbeat });
  const worker = { name: "w", queues: ["default"], tasks: ["a"], slots: 1 };
  await transport.open({ ...worker, defaults: { a: { timeout: "2m" } } }, events);
  await transport.close();
  expect(registered).toEqual([{ ...worker, defaults: { a: { timeout: "2m" } } }, worker]);
});
