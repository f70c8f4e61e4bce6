import type { TestProject } from "vitest/node";
import { startRunServer } from "./database/run-server.js";

/** Starts the PostgreSQL server of the run and provides its address to the tests; returns the function that ends it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const running = await startRunServer(process.env);
  project.provide("testServer", running.server);
  return () => running.stop();
}
