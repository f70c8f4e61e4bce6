import { type Executor, type ExecutorHost, faultsOf, NonRetryableError } from "@carillon/worker";
import { mapTexts, rendered, scopeOf, type TemplateScope } from "../payload/templates.js";
import { type EmailPayload, readEmailPayload } from "./email-payload.js";
import { type MailServer, type OutgoingMail, openMailServer } from "./mail-server.js";

/**
 * Sends one e-mail through the worker's mail server: CARILLON_SMTP_URL, such as smtps://user:password@mail.example.com, and
 * CARILLON_SMTP_FROM for jobs that name no sender. Every attempt of a run sends the same Message-ID, by which receivers can
 * tell a repeat.
 */
export function emailExecutor(host: ExecutorHost): Executor {
  let server: Promise<MailServer> | null = null;
  return {
    name: "email",
    check: (payload) => faultsOf(readEmailPayload, payload),
    run: async (payload, context) => {
      const read = readEmailPayload(payload);
      const templates = [read.subject, read.text, read.html];
      const mail = mailOf(read, await scopeOf(payload, context, { templates }), host);
      server ??= openMailServer(host.env["CARILLON_SMTP_URL"]);
      const { send } = await server.catch((error: unknown) => {
        server = null;
        throw error;
      });
      return send({ ...mail, messageId: `<${context.idempotencyKey}@carillon>` }, context.signal);
    },
  };
}

function mailOf(read: EmailPayload, scope: TemplateScope, { env }: ExecutorHost): Omit<OutgoingMail, "messageId"> {
  const { to, cc, bcc, replyTo, attachments } = read;
  const from = read.from ?? env["CARILLON_SMTP_FROM"];
  if (from === undefined || from === "")
    throw new NonRetryableError("the job names no sender (from), and the worker has none (CARILLON_SMTP_FROM)");
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

/** A value is text, whatever it holds; markup is the author's. */
function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (char) => entities[char] ?? char);
}
