import { present } from "@carillon/core";
import { NonRetryableError } from "@carillon/worker";

export interface EmailAttachment {
  readonly filename: string;
  readonly content: Buffer;
  readonly contentType: string | undefined;
}

export interface OutgoingMail {
  /** run_… */
  readonly runId: string;
  readonly messageId: string;
  readonly from: string;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly bcc: readonly string[];
  readonly replyTo: string | undefined;
  readonly subject: string;
  readonly text: string | undefined;
  readonly html: string | undefined;
  readonly attachments: readonly EmailAttachment[];
}

export interface MailServer {
  /** Rejects if the server accepts no recipient. */
  readonly send: (mail: OutgoingMail, signal: AbortSignal) => Promise<SentMail>;
}

export interface SentMail {
  readonly message_id: string;
  readonly accepted: readonly string[];
  readonly rejected: readonly string[];
  /** Of a mail that carillon dev caught. */
  readonly mail_id?: string;
}

const limits = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 60_000, dnsTimeout: 10_000 };

/** The mail server of the worker. Loads the library at the first mail. */
export async function openMailServer(url: string | undefined): Promise<MailServer> {
  if (url === undefined || url === "")
    throw new NonRetryableError("This worker has no mail server: set CARILLON_SMTP_URL to smtp://… or smtps://….");
  if (!/^smtps?:\/\/[^/]+/.test(url) || !URL.canParse(url))
    throw new NonRetryableError("CARILLON_SMTP_URL must be an address such as smtps://user:password@mail.example.com.");
  const { createTransport } = await import("nodemailer");
  return {
    async send(mail, signal) {
      signal.throwIfAborted();
      const transport = createTransport({ url, ...limits, disableFileAccess: true, disableUrlAccess: true });
      let stop = (): void => undefined;
      const stopped = new Promise<never>((_resolve, reject) => (stop = () => reject(signal.reason as Error)));
      signal.addEventListener("abort", stop);
      try {
        const sent = transport.sendMail(sendable(mail));
        const { messageId, accepted, rejected } = await Promise.race([sent, stopped]);
        return { message_id: messageId, accepted: accepted.map(nameOf), rejected: rejected.map(nameOf) };
      } catch (error) {
        throw signal.aborted ? signal.reason : failureOf(error);
      } finally {
        signal.removeEventListener("abort", stop);
        transport.close();
      }
    },
  };
}

function sendable(outgoing: OutgoingMail): Record<string, unknown> {
  const { runId: _, to, cc, bcc, replyTo, text, html, attachments, ...mail } = outgoing;
  return {
    ...mail,
    to: [...to],
    cc: [...cc],
    bcc: [...bcc],
    ...present({ replyTo, text, html }),
    attachments: attachments.map(({ filename, content, contentType }) => ({
      filename,
      content,
      ...(contentType !== undefined && { contentType }),
    })),
  };
}

function nameOf(recipient: string | { readonly address: string }): string {
  return typeof recipient === "string" ? recipient : recipient.address;
}

/** A 5xx is a final answer of the server. */
function failureOf(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const code = "responseCode" in error && typeof error.responseCode === "number" ? error.responseCode : 0;
  return code >= 500 && code < 600 ? new NonRetryableError(error.message, { cause: error }) : error;
}
