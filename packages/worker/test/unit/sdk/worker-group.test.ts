import { expect, it } from "vitest";
import { task } from "../../../src/sdk/task.js";
import { WorkerGroup } from "../../../src/sdk/worker-group.js";
import { FakeTransport } from "../runtime/fake-transport.js";

it("a worker that is stopped while it connects begins nothing, and leaves the process's signals alone", async () => {
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
