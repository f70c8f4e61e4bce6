import type { ProvidedContext } from "vitest";

/** The PostgreSQL server of one test run. */
export interface TestServer {
  readonly url: string;
  /** In the name of every database that this run makes. */
  readonly prefix: string;
}

declare module "vitest" {
  interface ProvidedContext {
    testServer: TestServer;
  }
}

/** The server that the run's global setup started or was given. Vitest is loaded only here, so that others need none. */
export async function testServer(): Promise<ProvidedContext["testServer"]> {
  const { inject } = await import("vitest");
  return inject("testServer");
}

/** The URL of another database on the same server. */
export function urlOf(server: TestServer, database: string): string {
  const url = new URL(server.url);
  url.pathname = `/${database}`;
  return url.href;
}
