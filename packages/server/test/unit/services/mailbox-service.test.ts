import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatId, makeUuidV7 } from "@carillon/core";
import { expect, it, onTestFinished } from "vitest";
import { MailboxService, type MailboxOptions } from "../../../src/services/mailbox-service.js";
import { createLogger } from "../../../src/services/logger.js";
import { PassThrough } from "node:stream";

const outgoing = (subject: string) => ({
  runId: "run_1",
  messageId: "<run_1@carillon>",
  from: "ops@example.com",
  to: ["Ann <a@example.com>"],
  cc: ["c@example.com"],
  bcc: [],
  replyTo: undefined,
  subject,
  text: "Hi",
  html: undefined,
  attachments: [{ filename: "a.txt", content: Buffer.from("hello"), contentType: "text/plain" }],
});

const alive = new AbortController().signal;

async function mailbox(over: Partial<MailboxOptions> = {}) {
  const dataDir = await mkdtemp(join(tmpdir(), "carillon-test-"));
  onTestFinished(() => rm(dataDir, { recursive: true }));
  const stream = new PassThrough();
  const logger = createLogger({ logLevel: "info", logFormat: "json" }, { stream, isTerminal: false, colour: false });
  let time = Date.UTC(2026, 0, 1);
  const newId = makeUuidV7({ now: () => time, randomBytes: (size) => Buffer.alloc(size, time % 251) });
  const open = async (more: Partial<MailboxOptions> = {}): Promise<MailboxService> => {
    const options = { dataDir, reset: false, namespace: "default", logger, newId, now: () => time++, ...over, ...more };
    const service = new MailboxService(options);
    await service.start();
    return service;
  };
  return { open, dataDir, log: () => String(stream.read() ?? "") };
}

const subjects = (box: MailboxService, pageSize = 10) =>
  box.list("default", { pageSize }).rows.map(({ subject }) => subject);

it("the mailbox stores a mail with its parts, logs its subject and its recipients, and finds it again after a restart", async () => {
  const { open, log } = await mailbox();
  const first = await open();
  const sent = await first.send(outgoing("Hello"), alive);
  expect(sent).toMatchObject({ message_id: "<run_1@carillon>", accepted: ["Ann <a@example.com>", "c@example.com"] });
  expect(log()).toMatch(/caught the mail .*Hello.* to Ann <a@example\.com>, c@example\.com; .*carillon mail get mail_/);
  const second = await open();
  const [mail] = second.list("default", { pageSize: 10 }).rows;
  expect(mail).toMatchObject({
    runId: "run_1",
    subject: "Hello",
    replyTo: null,
    text: "Hi",
    html: null,
    attachments: [{ filename: "a.txt", contentType: "text/plain", bytes: 5, contentBase64: "aGVsbG8=" }],
  });
  expect(formatId("mail", mail?.id ?? "")).toBe(sent.mail_id);
  expect(second.get("default", mail?.id ?? "")).toEqual(mail);
  expect(second.get("other", mail?.id ?? "")).toBeNull();
  expect(second.list("other", { pageSize: 10 }).rows).toEqual([]);
});

it("the mailbox lists the newest mails first, page by page", async () => {
  const box = await (await mailbox()).open();
  for (const subject of ["one", "two", "three"]) await box.send(outgoing(subject), alive);
  const { rows, next } = box.list("default", { pageSize: 2 });
  expect(rows.map(({ subject }) => subject)).toEqual(["three", "two"]);
  const rest = box.list("default", { pageSize: 2, ...(next !== null && { after: next }) });
  expect(rest).toMatchObject({ rows: [{ subject: "one" }], next: null });
});

it("the mailbox removes the oldest mails beyond its number and its size, and keeps the newest one", async () => {
  const few = await mailbox({ bounds: { maxMails: 2, maxBytes: 1_000_000 } });
  const box = await few.open();
  for (const subject of ["one", "two", "three"]) await box.send(outgoing(subject), alive);
  expect(subjects(box)).toEqual(["three", "two"]);
  expect(await readdir(join(few.dataDir, "mails"))).toHaveLength(2);
  const small = await (await mailbox({ bounds: { maxMails: 10, maxBytes: 1 } })).open();
  for (const subject of ["one", "two"]) await small.send(outgoing(subject), alive);
  expect(subjects(small)).toEqual(["two"]);
});

it("the mailbox ignores files that it did not write, and a reset empties it", async () => {
  const { open, dataDir } = await mailbox();
  await (await open()).send(outgoing("Hello"), alive);
  await writeFile(join(dataDir, "mails", "00000000-0000-7000-8000-000000000000.json"), "{");
  await writeFile(join(dataDir, "mails", "notes.txt"), "mine");
  expect(subjects(await open())).toEqual(["Hello"]);
  expect(subjects(await open({ reset: true }))).toEqual([]);
});
