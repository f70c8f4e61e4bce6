import { expect, it } from "vitest";
import { task } from "../../../src/sdk/define-task.js";
import { WorkerGroup } from "../../../src/sdk/worker-group.js";
import { FakeTransport } from "../runtime/fake-transport.js";

it("starts no worker and handles no process signals when it is stopped while it connects", async () => {
  const transport = new FakeTransport();
  let connected: () => void = () => undefined;
  const listeners = process.listenerCount("SIGTERM");
  const group = new WorkerGroup({
    settings: { tasks: [task({ name: "work", run: () => null })] },
    connect: async () => {
      await new Promise<void>((resolve) => (connected = resolve));
      return () => transport;
    },
    onEvent: () => undefined,
    stopAll: async () => undefined,
  });
  const started = group.start();
  await group.stop();
  connected();
  await started;
  expect(transport.registrations).toEqual([]);
  expect(process.listenerCount("SIGTERM")).toBe(listeners);
});
