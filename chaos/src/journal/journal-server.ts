import { once } from "node:events";
import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import { parseId } from "@carillon/core";

/** What a job asks the journal for, in the URL that its payload names. */
export interface Work {
  readonly job: string;
  readonly workMs: number;
  readonly failsFirst: boolean;
}

/**
 * The other side of the product's `http` task, which does the work of every run and writes down what it saw: run and fence
 * come from the headers that the task sends. It histories in the judge's process, so nothing that a node does can change it.
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
    // A node may keep a connection over a long freeze and use it again.
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
    // Workers print it as the API does or as the protocol does; the judge compares with rows.
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

/** The work of a run began here. `token` is the answer that only this try gets. */
export interface StartEntry {
  readonly event: "start";
  readonly token: number;
  readonly run: string;
  readonly job: string;
  readonly fence: number;
  readonly at: number;
}

/** The work was answered (done, or failed on purpose), or whoever asked for it went away. */
export interface EndEntry {
  readonly event: "end";
  readonly token: number;
  readonly outcome: "done" | "failed" | "gone";
  readonly at: number;
}

export type JournalEntry = StartEntry | EndEntry;
