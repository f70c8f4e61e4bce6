import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { formatId, isObject } from "@carillon/core";
import type { Page, PageRequest } from "@carillon/engine";
import type { OutgoingMail, OwnMailServer } from "@carillon/executors";
import type { Logger } from "pino";
import type { CaughtMail, Mailbox } from "../api/http/handler.js";
import type { Service } from "./service.js";

/** The oldest mails are removed beyond these. */
const defaultBounds = { maxMails: 500, maxBytes: 33_554_432 };
const fileName = /^[0-9a-f-]{36}\.json$/;

export interface MailboxOptions {
  readonly dataDir: string;
  /** Whether the mails of earlier processes are removed. */
  readonly reset: boolean;
  /** The namespace of the worker whose mails these are. */
  readonly namespace: string;
  readonly logger: Logger;
  readonly newId: () => string;
  readonly now: () => number;
  readonly bounds?: { readonly maxMails: number; readonly maxBytes: number };
}

interface Stored {
  readonly mail: CaughtMail;
  readonly bytes: number;
}

/** Stores the mails of `carillon dev` in files of its data folder in place of sending them. */
export class MailboxService implements Service, Mailbox, OwnMailServer {
  readonly name = "mailbox";
  readonly from = "Carillon <carillon@localhost>";
  readonly #options: MailboxOptions;
  readonly #folder: string;
  /** Oldest first. */
  #stored: Stored[] = [];

  constructor(options: MailboxOptions) {
    this.#options = options;
    this.#folder = join(options.dataDir, "mails");
  }

  async start(): Promise<void> {
    if (this.#options.reset) await rm(this.#folder, { recursive: true, force: true });
    const names = await readdir(this.#folder).catch(() => []);
    const stored: Stored[] = [];
    for (const name of names.filter((one) => fileName.test(one)).sort()) {
      const text = await readFile(join(this.#folder, name), "utf8");
      const mail = mailIn(text);
      if (mail !== null) stored.push({ mail, bytes: text.length });
    }
    this.#stored = stored;
    await this.#removeOldest();
  }

  async stop(): Promise<void> {}

  readonly send: OwnMailServer["send"] = async (outgoing, signal) => {
    signal.throwIfAborted();
    const mail = this.#caught(outgoing);
    const text = JSON.stringify(mail);
    const path = this.#path(mail);
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await writeFile(`${path}.new`, text, { mode: 0o600 });
    await rename(`${path}.new`, path);
    this.#stored.push({ mail, bytes: text.length });
    await this.#removeOldest();
    const recipients = [...mail.to, ...mail.cc, ...mail.bcc];
    const id = formatId("mail", mail.id);
    this.#options.logger.info(
      { component: this.name, run_id: mail.runId },
      `caught the mail ${JSON.stringify(mail.subject)} to ${recipients.join(", ")}; read it with: carillon mail get ${id}`,
    );
    return { message_id: mail.messageId, accepted: recipients, rejected: [], mail_id: id };
  };

  list(namespace: string, { pageSize, after, oldestFirst = false }: PageRequest): Page<CaughtMail> {
    const own = this.#stored.map(({ mail }) => mail).filter((mail) => mail.namespace === namespace);
    const ordered = oldestFirst ? own : own.toReversed();
    const left = ordered.filter(({ id }) => after === undefined || (oldestFirst ? id > after : id < after));
    const rows = left.slice(0, pageSize);
    return { rows, next: left.length > pageSize ? (rows.at(-1)?.id ?? null) : null };
  }

  get(namespace: string, id: string): CaughtMail | null {
    return this.#stored.find(({ mail }) => mail.id === id && mail.namespace === namespace)?.mail ?? null;
  }

  #caught({ replyTo, text, html, attachments, ...mail }: OutgoingMail): CaughtMail {
    const { namespace, newId, now } = this.#options;
    return {
      id: newId(),
      namespace,
      receivedAt: now(),
      ...mail,
      replyTo: replyTo ?? null,
      text: text ?? null,
      html: html ?? null,
      attachments: attachments.map(({ filename, contentType, content }) => ({
        filename,
        contentType: contentType ?? null,
        bytes: content.length,
        contentBase64: content.toString("base64"),
      })),
    };
  }

  async #removeOldest(): Promise<void> {
    const { maxMails, maxBytes } = this.#options.bounds ?? defaultBounds;
    let bytes = this.#stored.reduce((sum, one) => sum + one.bytes, 0);
    // The newest mail is kept, however large it is.
    while (this.#stored.length > maxMails || (bytes > maxBytes && this.#stored.length > 1)) {
      const oldest = this.#stored.shift();
      if (oldest === undefined) return;
      bytes -= oldest.bytes;
      await rm(this.#path(oldest.mail), { force: true });
    }
  }

  #path({ id }: CaughtMail): string {
    return join(this.#folder, `${id}.json`);
  }
}

/** Null for a file that this class did not write whole. */
function mailIn(text: string): CaughtMail | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) && typeof value["id"] === "string" && Array.isArray(value["attachments"])
      ? (value as unknown as CaughtMail)
      : null;
  } catch {
    return null;
  }
}
