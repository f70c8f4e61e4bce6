import { once } from "node:events";
import { createRequire } from "node:module";
import type { AddressInfo, Server } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { NonRetryableError } from "@carillon/worker";
import { emailExecutor } from "../../../src/index.js";
import { hostWith, run } from "../fixture.js";

interface Session {
  readonly envelope: { mailFrom: { address: string }; rcptTo: readonly { address: string }[] };
}

interface SmtpServer {
  readonly server: Server;
  listen(port: number, host: string): unknown;
  close(done: () => void): void;
}

interface SmtpModule {
  readonly SMTPServer: new (options: object) => SmtpServer;
}

// Only tests use this server (tools/package.json).
const tools = createRequire(new URL("../../../../../tools/package.json", import.meta.url));
const { SMTPServer } = tools("smtp-server") as SmtpModule;

interface Received {
  readonly from: string;
  readonly to: readonly string[];
  readonly text: string;
}

describe("email", () => {
  let server: SmtpServer;
  let url: string;
  let received: Received[] = [];
  let refusal: (Error & { responseCode: number }) | null = null;
  let onData: () => void = () => undefined;
  beforeEach(() => {
    received = [];
    refusal = null;
  });
  beforeAll(async () => {
    server = new SMTPServer({
      authOptional: true,
      disabledCommands: ["STARTTLS"],
      onAuth: (
        auth: { username: string; password: string },
        _session: Session,
        done: (error: Error | null, found?: object) => void,
      ) => (auth.password === "right" ? done(null, { user: auth.username }) : done(new Error("wrong password"))),
      onRcptTo: ({ address }: { address: string }, _session: Session, done: (error?: Error) => void) =>
        done(
          address.startsWith("refused") ? Object.assign(new Error("no such user"), { responseCode: 550 }) : undefined,
        ),
      onData: (stream: AsyncIterable<Buffer>, { envelope }: Session, done: (error?: Error | null) => void) => {
        onData();
        void (async () => {
          let text = "";
          for await (const chunk of stream) text += chunk.toString("utf8");
          received.push({ from: envelope.mailFrom.address, to: envelope.rcptTo.map((one) => one.address), text });
          done(refusal);
        })();
      },
    });
    server.listen(0, "127.0.0.1");
    await once(server.server, "listening");
    url = `smtp://me:right@127.0.0.1:${(server.server.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise<void>((resolve) => server.close(resolve)));

  const email = (env: Record<string, string> = {}) =>
    emailExecutor(hostWith({ env: { CARILLON_SMTP_URL: url, CARILLON_SMTP_FROM: "Ops <ops@example.com>", ...env } }));
  const plain = { to: "a@example.com", subject: "Hello", text: "Hi" };

  it("sends rendered text and HTML, with values escaped in HTML, from the sender of the worker", async () => {
    const payload = {
      to: ["Ann <a@example.com>", "b@example.com"],
      cc: "c@example.com",
      bcc: ["d@example.com"],
      reply_to: "r@example.com",
      subject: "Digest for {payload.data.name}",
      text: "Hi {payload.data.name}, run {run.id}",
      html: "<p>Hi {payload.data.name}</p>",
      data: { name: "<Ann & Co>" },
    };
    expect(await run(email(), payload)).toEqual({
      message_id: "<r1@carillon>",
      accepted: ["a@example.com", "b@example.com", "c@example.com", "d@example.com"],
      rejected: [],
    });
    expect(received).toMatchObject([
      { from: "ops@example.com", to: ["a@example.com", "b@example.com", "c@example.com", "d@example.com"] },
    ]);
    const text = received[0]?.text ?? "";
    expect(text).toContain("Subject: Digest for <Ann & Co>");
    expect(text).toContain("Message-ID: <r1@carillon>");
    expect(text).toContain("Reply-To: r@example.com");
    expect(text).toContain("Hi <Ann & Co>, run r1");
    expect(text).toContain("<p>Hi &lt;Ann &amp; Co&gt;</p>");
    expect(text).not.toContain("d@example.com");
  });

  it("sends attachments", async () => {
    const attachments = [
      { filename: "a.csv", content: "x,y\n1,2\n", content_type: "text/csv" },
      { filename: "b.bin", content_base64: "AAEC" },
    ];
    await run(email(), { ...plain, attachments });
    expect(received[0]?.text).toContain("filename=a.csv");
    expect(received[0]?.text).toContain("AAEC");
  });

  it("returns the refused recipients, and fails for good if the server refuses all", async () => {
    expect(await run(email(), { ...plain, to: ["a@example.com", "refused@example.com"] })).toMatchObject({
      accepted: ["a@example.com"],
      rejected: ["refused@example.com"],
    });
    await expect(run(email(), { ...plain, to: "refused@example.com" })).rejects.toBeInstanceOf(NonRetryableError);
  });

  it("may be retried if the server is busy or away, and fails for good at a 5xx", async () => {
    refusal = Object.assign(new Error("busy"), { responseCode: 451 });
    await expect(run(email(), plain)).rejects.not.toBeInstanceOf(NonRetryableError);
    refusal = Object.assign(new Error("no"), { responseCode: 554 });
    await expect(run(email(), plain)).rejects.toBeInstanceOf(NonRetryableError);
    const wrong = { CARILLON_SMTP_URL: url.replace("right", "wrong") };
    await expect(run(email(wrong), plain)).rejects.toThrow("Invalid login");
    const away = run(email({ CARILLON_SMTP_URL: "smtp://127.0.0.1:1" }), plain);
    await expect(away).rejects.not.toBeInstanceOf(NonRetryableError);
  });

  it("stops sending when its signal fires", async () => {
    const controller = new AbortController();
    onData = () => controller.abort(new Error("stop now"));
    await expect(run(email(), plain, { signal: controller.signal })).rejects.toThrow("stop now");
    onData = () => undefined;
  });

  it("fails without a mail server or a sender", async () => {
    await expect(run(email({ CARILLON_SMTP_URL: "" }), plain)).rejects.toThrow("set CARILLON_SMTP_URL");
    await expect(run(email({ CARILLON_SMTP_FROM: "" }), plain)).rejects.toThrow("CARILLON_SMTP_FROM");
  });

  it.each([
    [{}, "/to"],
    [{ ...plain, to: "not an address" }, "/to"],
    [{ ...plain, to: "a@example.com\r\nbcc: b@example.com" }, "/to"],
    [{ ...plain, to: Array.from({ length: 101 }, () => "a@example.com") }, "/to"],
    [{ ...plain, subject: "{payload.data.x}" }, "/subject"],
    [{ ...plain, text: null }, "/text"],
    [{ ...plain, attachments: [{ filename: "a", path: "/etc/passwd" }] }, "/attachments/0/path"],
    [{ ...plain, attachments: [{ filename: "../a", content: "" }] }, "/attachments/0/filename"],
    [{ ...plain, attachments: [{ filename: "a" }] }, "/attachments/0/content"],
    [
      { ...plain, attachments: Array.from({ length: 5 }, () => ({ filename: "a", content: "x".repeat(262_000) })) },
      "/attachments",
    ],
  ])("refuses the payload %j at %s, and fails its run for good", async (payload, pointer) => {
    expect(
      email()
        .check(payload)
        .map((fault) => fault.pointer),
    ).toContain(pointer);
    await expect(run(email(), payload)).rejects.toBeInstanceOf(NonRetryableError);
  });
});
