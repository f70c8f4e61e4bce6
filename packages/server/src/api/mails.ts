import type { MailSummary } from "@carillon/contract";
import { formatId } from "@carillon/core";
import { found } from "./http/errors.js";
import { type ApiOptions, type CaughtMail, handlers, type Mailbox, ok, timestamp } from "./http/handler.js";
import { listOf } from "./http/paging.js";
import { idOrNotFound } from "./http/request.js";

const mailList = listOf("mails", toSummaryJson);

export function mailHandlers({ mailbox }: ApiOptions) {
  const required = (): Mailbox => found(mailbox ?? null, noMailbox);
  return handlers({
    listMails: ({ query, namespace }) => mailList(query, [namespace], async (page) => required().list(namespace, page)),
    getMail({ params: { id }, namespace }) {
      const mail = required().get(namespace, idOrNotFound("mail", id));
      return ok(toMailJson(found(mail, `There is no mail ${id}: the mailbox keeps only the newest.`)));
    },
  });
}

const noMailbox =
  "Only carillon dev has a mailbox, if it has no mail server (CARILLON_SMTP_URL). This server stores no mails.";

function toSummaryJson({ id, runId, receivedAt, from, to, cc, bcc, subject, attachments }: CaughtMail): MailSummary {
  return {
    id: formatId("mail", id),
    run_id: runId,
    received_at: timestamp(receivedAt),
    from,
    to: [...to],
    cc: [...cc],
    bcc: [...bcc],
    subject,
    attachments: attachments.length,
  };
}

function toMailJson(mail: CaughtMail) {
  return {
    ...toSummaryJson(mail),
    message_id: mail.messageId,
    reply_to: mail.replyTo,
    text: mail.text,
    html: mail.html,
    attachments: mail.attachments.map(({ filename, contentType, bytes, contentBase64 }) => ({
      filename,
      content_type: contentType,
      bytes,
      content_base64: contentBase64,
    })),
  };
}
