import type { Mail, MailSummary } from "@carillon/contract";
import { afterEach, describe, expect, it, vi } from "vitest";
import { runCli } from "../../src/main.js";
import { fakeIo } from "./fake-io.js";
import { serve } from "./fake-server.js";

afterEach(() => vi.unstubAllGlobals());

const summary: MailSummary = {
  id: "mail_01k9zq3v5e0r8t2b7n4m6x1c9d",
  run_id: "run_01k9zq3v5e0r8t2b7n4m6x1c9d",
  received_at: "2030-01-01T00:00:00.000Z",
  from: "ops@example.com",
  to: ["Ann <a@example.com>"],
  cc: ["c@example.com"],
  bcc: [],
  subject: "Hello",
  attachments: 1,
};
const mail: Mail = {
  ...summary,
  message_id: "<run_1@carillon>",
  reply_to: null,
  text: null,
  html: "<p>Hi</p>",
  attachments: [{ filename: "a.txt", content_type: null, bytes: 5, content_base64: "aGVsbG8=" }],
};

describe("carillon mail", () => {
  it("mail list prints the time, all recipients and the subject of each mail", async () => {
    const calls = serve({ mails: [summary], next_page_token: null });
    const io = fakeIo();
    expect(await runCli(["mail", "list"], io)).toBe(0);
    expect(calls[0]?.url).toContain("/v1/dev/mails?");
    expect(io.written()).toMatch(/mail_01k9\w+ +2030-01-01T00:00:00.000Z +Ann <a@example\.com>, c@example\.com +Hello/);
  });

  it("mail get prints the mail with its text, or with its HTML if it has no text, and everything as JSON", async () => {
    const calls = serve(mail);
    const [plain, json] = [fakeIo(), fakeIo()];
    expect(await runCli(["mail", "get", mail.id], plain)).toBe(0);
    expect(await runCli(["mail", "get", mail.id, "--json"], json)).toBe(0);
    expect(calls[0]?.url).toContain(`/v1/dev/mails/${mail.id}`);
    expect(plain.written()).toMatch(/attachments +a\.txt \(5 bytes\)\n[^]*\n<p>Hi<\/p>\n$/);
    expect(JSON.parse(json.written())).toEqual(mail);
  });
});
