import { once } from "node:events";
import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import { parseId } from "@carillon/core";

/** The work of a run began. Only this attempt gets `token` as its answer. */
export interface StartEntry {
  readonly event: "start";
  readonly token: number;
  readonly run: string;
  readonly job: string;
  readonly fence: number;
  readonly at: number;
}

/** The work was answered (done, or failed on purpose), or the client closed the connection (gone). */
export interface EndEntry {
  readonly event: "end";
  readonly token: number;
  readonly outcome: "done" | "failed" | "gone";
  readonly at: number;
}

export type JournalEntry = StartEntry | EndEntry;

/** The work that a job requests from the journal, encoded in the URL of its payload. */
export interface Work {
  readonly job: string;
  readonly workMs: number;
  readonly failsFirst: boolean;
}

/**
 * The server that the product's `http` task calls. It does the work of every run and records run and fence from the
 * request headers. It is part of the judge's process, so no node can change its records.
 */
export class JournalServer {
  readonly entries: JournalEntry[] = [];
  readonly #file: number;
  readonly #server: Server;
  readonly #seenRuns = new Set<string>();
  #tokens = 0;
  #port = 0;

  static async start(path: string): Promise<JournalServer> {
    const journal = new JournalServer(path);
    journal.#server.listen(0, "127.0.0.1");
    await once(journal.#server, "listening");
    const address = journal.#server.address();
    if (typeof address === "object" && address !== null) journal.#port = address.port;
    return journal;
  }

  private constructor(path: string) {
    this.#file = openSync(path, "a");
    this.#server = createServer((request, response) => this.#work(request, response));
    // A node may reuse a connection after a long freeze.
    this.#server.keepAliveTimeout = 120_000;
  }

  urlOf({ job, workMs, failsFirst }: Work): string {
    return `http://127.0.0.1:${this.#port}/${job}?work=${workMs}${failsFirst ? "&fails=first" : ""}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
    closeSync(this.#file);
  }

  #work(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? "/", "http://journal");
    const token = ++this.#tokens;
    // The built-in task sends the API's form of the id and external workers the protocol's; the rows have the parsed
    // form.
    const run = parseId("run", String(request.headers["idempotency-key"]));
    const fence = Number(request.headers["carillon-fence"]);
    const isFirst = !this.#seenRuns.has(run);
    this.#seenRuns.add(run);
    this.#write({ event: "start", token, run, job: url.pathname.slice(1), fence, at: Date.now() });
    let isEnded = false;
    const end = (outcome: "done" | "failed" | "gone"): void => {
      if (isEnded) return;
      isEnded = true;
      clearTimeout(timer);
      this.#write({ event: "end", token, outcome, at: Date.now() });
    };
    const timer = setTimeout(
      () => {
        const fails = isFirst && url.searchParams.get("fails") === "first";
        end(fails ? "failed" : "done");
        response.writeHead(fails ? 503 : 200, { "content-type": "application/json" });
        response.end(JSON.stringify({ token }));
      },
      Number(url.searchParams.get("work")),
    );
    response.on("close", () => end("gone"));
  }

  #write(entry: JournalEntry): void {
    this.entries.push(entry);
    writeSync(this.#file, `${JSON.stringify(entry)}\n`);
    fsyncSync(this.#file);
  }
}
