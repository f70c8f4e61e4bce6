import { type Executor, type ExecutorHost, faultsOf, NonRetryableError, PayloadReader } from "@carillon/worker";
import { mapTexts, rendered, scopeOf, TemplateReader, type TemplateScope } from "../templates.js";
import { type EmailAttachment, type MailServer, type OutgoingMail, openMailServer } from "./mail-server.js";

/** In place of the mail server that CARILLON_SMTP_URL names. */
export interface OwnMailServer extends MailServer {
  /** The sender of mails that name none, if CARILLON_SMTP_FROM is not set. */
  readonly from: string;
}

/**
 * Sends one e-mail through the worker's mail server: CARILLON_SMTP_URL, such as smtps://user:password@mail.example.com, and
 * CARILLON_SMTP_FROM for jobs that name no sender. Every attempt of a run sends the same Message-ID, by which receivers
 * recognise a repeat.
 */
export function emailExecutor(host: ExecutorHost, own: OwnMailServer | null = null): Executor {
  const sender = host.env["CARILLON_SMTP_FROM"] || own?.from;
  let server: Promise<MailServer> | null = own && Promise.resolve(own);
  return {
    name: "email",
    check: (payload) => faultsOf(readEmailPayload, payload),
    run: async (payload, context) => {
      const read = readEmailPayload(payload);
      const templates = [read.subject, read.text, read.html];
      const mail = mailOf(read, await scopeOf(payload, context, { templates }), sender);
      server ??= openMailServer(host.env["CARILLON_SMTP_URL"]);
      const { send } = await server.catch((error: unknown) => {
        server = null;
        throw error;
      });
      const { idempotencyKey, runId, signal } = context;
      return send({ ...mail, runId, messageId: `<${idempotencyKey}@carillon>` }, signal);
    },
  };
}

function mailOf(
  read: EmailPayload,
  scope: TemplateScope,
  sender: string | undefined,
): Omit<OutgoingMail, "messageId" | "runId"> {
  const { to, cc, bcc, replyTo, attachments } = read;
  const from = read.from ?? sender;
  if (from === undefined)
    throw new NonRetryableError("The job names no sender (from), and the worker has none (CARILLON_SMTP_FROM).");
  const subject = rendered(read.subject, scope).replaceAll(/\s+/g, " ");
  const text = read.text === null ? undefined : rendered(read.text, scope);
  const html = read.html === null ? undefined : rendered(read.html, mapTexts(scope, escapeHtml) as TemplateScope);
  return { from, to, cc, bcc, replyTo, subject, text, html, attachments };
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Values are text; only the author of the job writes markup. */
function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (char) => entities[char] ?? char);
}

const maxRecipients = 100;
const maxAttachments = 20;
const maxAttachmentBytes = 1_048_576;
/** One address, plain or with a name: `Ops <ops@example.com>`. */
const address = {
  max: 320,
  pattern: /^(?:[^<>@,;\r\n]+<[^<>@\s,;]+@[^<>@\s,;]+>|[^<>@\s,;]+@[^<>@\s,;]+)$/,
  words: "an address",
};
const base64 = /^[A-Za-z0-9+/]*={0,2}$/;

type EmailPayload = ReturnType<typeof readEmailPayload>;

/** Throws a PayloadError that names every fault. */
function readEmailPayload(payload: unknown) {
  const reader = new PayloadReader("email", payload);
  const templates = new TemplateReader(reader, payload);
  const [text, html] = [reader.text("text"), reader.text("html")];
  const read = {
    from: reader.text("from", address),
    to: addresses(reader, "to"),
    cc: addresses(reader, "cc"),
    bcc: addresses(reader, "bcc"),
    replyTo: reader.text("reply_to", address),
    subject: templates.text("subject", reader.requiredText("subject", { max: 998 })),
    text: text === undefined ? null : templates.text("text", text),
    html: html === undefined ? null : templates.text("html", html),
    attachments: attachmentsOf(reader),
  };
  // Values for templates, in any form.
  reader.value("data");
  if (read.to.length === 0 && !reader.has("to")) reader.fault("to", "is required");
  if (read.to.length + read.cc.length + read.bcc.length > maxRecipients)
    reader.fault("to", `may have at most ${maxRecipients} recipients, with cc and bcc`);
  if (text === undefined && html === undefined) reader.fault("text", "is required, or html");
  reader.end();
  return read;
}

function addresses(reader: PayloadReader, name: string): readonly string[] {
  const given = reader.list(name, maxRecipients) ?? [];
  const wrong = given.find((one) => one.length > address.max || !address.pattern.test(one));
  if (wrong !== undefined) reader.fault(name, `has ${JSON.stringify(wrong.slice(0, 100))}, which is not an address`);
  return given;
}

function attachmentsOf(reader: PayloadReader): readonly EmailAttachment[] {
  const given = reader.objects("attachments", maxAttachments).map(attachmentOf);
  const bytes = given.reduce((sum, { content }) => sum + content.length, 0);
  if (bytes > maxAttachmentBytes) reader.fault("attachments", `may have ${maxAttachmentBytes} bytes in all`);
  return given;
}

function attachmentOf(reader: PayloadReader): EmailAttachment {
  const filename = reader.requiredText("filename", {
    max: 200,
    // oxlint-disable-next-line no-control-regex -- to refuse them
    pattern: /^[^\u0000-\u001f\u007f/\\]+$/,
    words: "a name without a path",
  });
  const contentType = reader.text("content_type", {
    max: 200,
    pattern: /^[\w.+-]+\/[\w.+-]+(?:; *[\w-]+=[\w.+-]+)*$/,
    words: "a type such as text/csv",
  });
  const [plain, encoded] = [
    reader.text("content"),
    reader.text("content_base64", { max: 2 * maxAttachmentBytes, pattern: base64, words: "base64" }),
  ];
  if ((plain === undefined) === (encoded === undefined))
    reader.fault("content", "is required, or content_base64, but not both");
  return {
    filename,
    contentType,
    content: plain === undefined ? Buffer.from(encoded ?? "", "base64") : Buffer.from(plain),
  };
}
