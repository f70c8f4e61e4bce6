import { Client } from "pg";

/** Queries the database past every proxy, with a new connection after the server was away. */
export class Witness {
  readonly #url: string;
  #client: Client | null = null;

  constructor(url: string) {
    this.#url = url;
  }

  async rows<Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    this.#client ??= await this.#connect();
    return (await this.#client.query<Row>(text, [...values])).rows;
  }

  async close(): Promise<void> {
    await this.#client?.end();
    this.#client = null;
  }

  async #connect(): Promise<Client> {
    const client = new Client({ connectionString: this.#url });
    client.on("error", () => {
      this.#client = null;
    });
    await client.connect();
    return client;
  }
}
