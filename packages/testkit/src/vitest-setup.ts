import type { TestProject } from "vitest/node";
import { startRunServer } from "./database/run-server.js";

/** Starts the PostgreSQL server of the project's run and tells the tests where it is; answers how to end it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const running = await startRunServer(process.env);
  project.provide("testServer", running.server);
  return () => running.stop();
}
