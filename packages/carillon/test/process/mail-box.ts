import { EventEmitter, once } from "node:events";
import { createRequire } from "node:module";
import type { AddressInfo, Server } from "node:net";

interface SmtpServer {
  readonly server: Server;
  listen(port: number, host: string): unknown;
  close(done: () => void): void;
}

interface Session {
  readonly envelope: { readonly rcptTo: readonly { readonly address: string }[] };
}

// The server is a tool of tests alone.
const tools = createRequire(new URL("../../../../tools/package.json", import.meta.url));
const { SMTPServer } = tools("smtp-server") as { SMTPServer: new (options: object) => SmtpServer };

export interface Letter {
  readonly to: readonly string[];
  /** Headers and parts, as they were sent. */
  readonly text: string;
}

/** A real SMTP server that keeps what it is given. */
export class MailBox {
  readonly #server: SmtpServer;
  readonly #letters: Letter[] = [];
  readonly #news = new EventEmitter();

  static async open(): Promise<MailBox> {
    const box = new MailBox();
    box.#server.listen(0, "127.0.0.1");
    await once(box.#server.server, "listening");
    return box;
  }

  private constructor() {
    this.#server = new SMTPServer({
      authOptional: true,
      disabledCommands: ["STARTTLS"],
      onData: (stream: AsyncIterable<Buffer>, { envelope }: Session, done: () => void) => {
        void (async () => {
          let text = "";
          for await (const chunk of stream) text += chunk.toString("utf8");
          this.#letters.push({ to: envelope.rcptTo.map((one) => one.address), text });
          this.#news.emit("letter");
          done();
        })();
      },
    });
  }

  get url(): string {
    return `smtp://127.0.0.1:${(this.#server.server.address() as AddressInfo).port}`;
  }

  /** The first letter, now or when it comes. */
  async first(): Promise<Letter> {
    while (this.#letters[0] === undefined) await once(this.#news, "letter");
    return this.#letters[0];
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#server.close(resolve));
  }
}
