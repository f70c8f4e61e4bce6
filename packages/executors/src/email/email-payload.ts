import type { Template } from "@carillon/condition";
import { PayloadReader } from "@carillon/worker";
import { TemplateReader } from "../payload/templates.js";

export interface EmailAttachment {
  readonly filename: string;
  readonly content: Buffer;
  readonly contentType: string | undefined;
}

export interface EmailPayload {
  readonly from: string | undefined;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly bcc: readonly string[];
  readonly replyTo: string | undefined;
  readonly subject: Template;
  readonly text: Template | null;
  readonly html: Template | null;
  readonly attachments: readonly EmailAttachment[];
}

const mostRecipients = 100;
const mostAttachments = 20;
const mostAttachmentBytes = 1_048_576;
/** One address, plain or with a name: `Ops <ops@example.com>`. */
const address = {
  most: 320,
  pattern: /^(?:[^<>@,;\r\n]+<[^<>@\s,;]+@[^<>@\s,;]+>|[^<>@\s,;]+@[^<>@\s,;]+)$/,
  words: "an address",
};
const base64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Reads what a job wants to send. Throws a PayloadError that names every fault. */
export function readEmailPayload(payload: unknown): EmailPayload {
  const reader = new PayloadReader("email", payload);
  const templates = new TemplateReader(reader, payload);
  const [text, html] = [reader.text("text"), reader.text("html")];
  const read: EmailPayload = {
    from: reader.text("from", address),
    to: addresses(reader, "to"),
    cc: addresses(reader, "cc"),
    bcc: addresses(reader, "bcc"),
    replyTo: reader.text("reply_to", address),
    subject: templates.text("subject", reader.requiredText("subject", { most: 998 })),
    text: text === undefined ? null : templates.text("text", text),
    html: html === undefined ? null : templates.text("html", html),
    attachments: attachmentsOf(reader),
  };
  // For templates: whatever the author of the job wants to put in.
  reader.value("data");
  if (read.to.length === 0 && !reader.has("to")) reader.fault("to", "is required");
  if (read.to.length + read.cc.length + read.bcc.length > mostRecipients)
    reader.fault("to", `may have at most ${mostRecipients} recipients, with cc and bcc`);
  if (text === undefined && html === undefined) reader.fault("text", "is required, or html");
  reader.end();
  return read;
}

function addresses(reader: PayloadReader, name: string): readonly string[] {
  const given = reader.list(name, mostRecipients) ?? [];
  const wrong = given.find((one) => one.length > address.most || !address.pattern.test(one));
  if (wrong !== undefined) reader.fault(name, `has ${JSON.stringify(wrong.slice(0, 100))}, which is no address`);
  return given;
}

function attachmentsOf(reader: PayloadReader): readonly EmailAttachment[] {
  const given = reader.objects("attachments", mostAttachments).map(attachmentOf);
  const bytes = given.reduce((sum, { content }) => sum + content.length, 0);
  if (bytes > mostAttachmentBytes) reader.fault("attachments", `may have ${mostAttachmentBytes} bytes in all`);
  return given;
}

function attachmentOf(reader: PayloadReader): EmailAttachment {
  const filename = reader.requiredText("filename", {
    most: 200,
    // oxlint-disable-next-line no-control-regex -- they are what is refused
    pattern: /^[^\u0000-\u001f\u007f/\\]+$/,
    words: "a name without a path",
  });
  const contentType = reader.text("content_type", {
    most: 200,
    pattern: /^[\w.+-]+\/[\w.+-]+(?:; *[\w-]+=[\w.+-]+)*$/,
    words: "a type such as text/csv",
  });
  const [plain, encoded] = [
    reader.text("content"),
    reader.text("content_base64", { most: 2 * mostAttachmentBytes, pattern: base64, words: "base64" }),
  ];
  if ((plain === undefined) === (encoded === undefined))
    reader.fault("content", "is required, or content_base64, not both");
  return {
    filename,
    contentType,
    content: plain === undefined ? Buffer.from(encoded ?? "", "base64") : Buffer.from(plain),
  };
}
