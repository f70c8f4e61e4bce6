import { type Static, Type } from "typebox";
import { Count, nullable, object, Text, Timestamp } from "../fields.js";
import { getErrors, type Operation, pageAnswer } from "../operation.js";
import { pageOf, PageQuery } from "../paging.js";

const Addresses = (description: string) =>
  Type.Array(Type.String(), { description, examples: [["Ops <ops@example.com>"]] });

const summary = {
  id: Type.String({ examples: ["mail_01k9zq3v5e0r8t2b7n4m6x1c9d"] }),
  run_id: Text("The run that sent it"),
  received_at: Timestamp,
  from: Type.String(),
  to: Addresses("Its recipients"),
  cc: Addresses("Recipients of a copy"),
  bcc: Addresses("Recipients that the others do not see"),
  subject: Type.String(),
  attachments: Count("The number of files with it"),
};

export const MailSummary = object("MailSummary", summary);
export type MailSummary = Static<typeof MailSummary>;

const MailAttachment = object("MailAttachment", {
  filename: Type.String(),
  content_type: nullable(Type.String()),
  bytes: Count("Its size"),
  content_base64: Type.String(),
});

export const Mail = object("Mail", {
  ...summary,
  message_id: Text("The header Message-ID, the same in every attempt of a run"),
  reply_to: nullable(Type.String()),
  text: nullable(Type.String()),
  html: nullable(Type.String()),
  attachments: Type.Array(MailAttachment),
});
export type Mail = Static<typeof Mail>;

export const MailList = pageOf("MailList", { mails: Type.Array(MailSummary) });
export type MailList = Static<typeof MailList>;

const reads = { tag: "Development", permission: "mails:read", rateClass: "read", method: "GET" } as const;

export const listMails = {
  ...reads,
  path: "/v1/dev/mails",
  client: "mails.list",
  summary: "List the mails that carillon dev caught, newest first",
  description:
    "`carillon dev` without a mail server (CARILLON_SMTP_URL) stores the mails of the executor `email` in its data folder and " +
    "sends none. It keeps the newest 500, up to 32 MiB. Other servers answer 404.",
  query: PageQuery,
  ...pageAnswer(MailList),
} as const satisfies Operation;

export const getMail = {
  ...reads,
  path: "/v1/dev/mails/{id}",
  client: "mails.get",
  summary: "Get a mail that carillon dev caught",
  params: Type.Object({ id: Type.String({ examples: ["mail_01k9zq3v5e0r8t2b7n4m6x1c9d"] }) }),
  answers: { 200: { description: "The mail with its text and attachments", schema: Mail } },
  errors: getErrors,
} as const satisfies Operation;
