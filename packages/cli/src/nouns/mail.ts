import type { Mail, MailSummary } from "@carillon/contract";
import type { Commands } from "../command.js";
import { type Column, fieldColumns, renderFields } from "../output.js";
import { getCommand, listCommand, type Resource } from "../verbs.js";

const columns: readonly Column<MailSummary>[] = [
  ...fieldColumns("id"),
  { title: "RECEIVED", value: ({ received_at: at }) => at },
  { title: "TO", value: recipients },
  ...fieldColumns("subject"),
];

function recipients({ to, cc, bcc }: Pick<MailSummary, "to" | "cc" | "bcc">): string {
  return [...to, ...cc, ...bcc].join(", ");
}

const mail: Resource<Mail> = {
  argument: "<mail>",
  argumentHelp: "its id",
  get: (client, name) => client.mails.get(name),
  render: (one) => {
    const fields = renderFields([
      ["mail", one.id],
      ["run", one.run_id],
      ["received", one.received_at],
      ["from", one.from],
      ["to", one.to.join(", ")],
      ["cc", one.cc.join(", ")],
      ["bcc", one.bcc.join(", ")],
      ["reply to", one.reply_to ?? ""],
      ["subject", one.subject],
      ["attachments", one.attachments.map(({ filename, bytes }) => `${filename} (${bytes} bytes)`).join(", ")],
    ]);
    const body = one.text ?? one.html ?? "";
    return `${fields}\n${body.endsWith("\n") ? body : `${body}\n`}`;
  },
};

export const mailCommands: Commands = {
  list: listCommand({
    summary: "list the mails that carillon dev caught, newest first",
    rows: "mails",
    columns,
    page: ({ client }, query) => client.mails.list(query),
    notes:
      "Without a mail server (CARILLON_SMTP_URL) carillon dev stores the mails of the executor email in its data folder, and sends none.",
    examples: ["carillon mail list", "carillon mail list -n 1 --json"],
  }),
  get: getCommand(mail, {
    summary: "show one mail with its text",
    notes: "Attachments and HTML are in the JSON.",
    examples: ["carillon mail get mail_01k9zq3v5e0r8t2b7n4m6x1c9d --json"],
  }),
};
