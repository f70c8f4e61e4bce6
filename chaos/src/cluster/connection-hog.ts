import { Client } from "pg";

/** Somebody else's program that opens connections until the server refuses more, and holds them. */
export class ConnectionHog {
  readonly #clients: Client[] = [];

  /** Resolves when the server has none left to give. */
  async fill(url: string): Promise<void> {
    for (;;) {
      const client = new Client({ connectionString: url });
      client.on("error", () => undefined);
      try {
        await client.connect();
      } catch {
        return;
      }
      this.#clients.push(client);
    }
  }

  async release(): Promise<void> {
    await Promise.allSettled(this.#clients.splice(0).map((client) => client.end()));
  }
}
