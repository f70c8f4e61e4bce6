import type { TestProject } from "vitest/node";
import { type RunServer, startRunServer } from "./database/run-server.js";

let running: RunServer | undefined;

/** Starts the one PostgreSQL server of the run and tells the tests where it is. */
export async function setup(project: TestProject): Promise<void> {
  running = await startRunServer(process.env);
  project.provide("testServer", running.server);
}

export async function teardown(): Promise<void> {
  await running?.stop();
}
