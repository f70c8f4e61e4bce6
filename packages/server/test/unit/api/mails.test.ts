import { formatId } from "@carillon/core";
import { expect, it } from "vitest";
import type { CaughtMail } from "../../../src/api/http/handler.js";
import { apiUnderTest, refusalOf, testNow } from "./api-under-test.js";

const caught: CaughtMail = {
  id: "01890000-0000-7000-8000-000000000001",
  namespace: "default",
  runId: "run_01k9zq3v5e0r8t2b7n4m6x1c9d",
  messageId: "<run_1@carillon>",
  receivedAt: testNow,
  from: "ops@example.com",
  to: ["a@example.com"],
  cc: [],
  bcc: [],
  replyTo: null,
  subject: "Hello",
  text: "Hi",
  html: null,
  attachments: [{ filename: "a.txt", contentType: null, bytes: 5, contentBase64: "aGVsbG8=" }],
};

const mailbox = {
  list: (namespace: string) => ({ rows: namespace === "default" ? [caught] : [], next: null }),
  get: (namespace: string, id: string) => (namespace === "default" && id === caught.id ? caught : null),
};
const id = formatId("mail", caught.id);

it("caught mails are listed without their texts, and each is shown with its text and attachments", async () => {
  const api = apiUnderTest({ mailbox });
  const list = (await api.get("/v1/dev/mails")).json();
  expect(list).toMatchObject({ mails: [{ id, subject: "Hello", attachments: 1 }], next_page_token: null });
  expect(JSON.stringify(list)).not.toContain("aGVsbG8=");
  expect((await api.get(`/v1/dev/mails/${id}`)).json()).toMatchObject({
    id,
    run_id: caught.runId,
    received_at: "2026-11-12T08:30:00.000Z",
    text: "Hi",
    attachments: [{ filename: "a.txt", content_type: null, bytes: 5, content_base64: "aGVsbG8=" }],
  });
});

it("an unknown mail is not found, and a server without a mailbox says where there is one", async () => {
  const api = apiUnderTest({ mailbox });
  const other = formatId("mail", "01890000-0000-7000-8000-000000000002");
  expect(refusalOf(await api.get(`/v1/dev/mails/${other}`))).toMatchObject({ status: 404, code: "not_found" });
  expect(refusalOf(await api.get("/v1/dev/mails/run_1"))).toMatchObject({ status: 404, code: "not_found" });
  for (const path of ["/v1/dev/mails", `/v1/dev/mails/${id}`]) {
    const response = await apiUnderTest().get(path);
    expect(refusalOf(response)).toMatchObject({ status: 404, code: "not_found" });
    expect(response.body).toContain("Only carillon dev has a mailbox");
  }
});

it("a server of carillon dev names its folder in every answer, and another server names none", async () => {
  const dev = apiUnderTest({ folder: "/srv/größe" });
  expect((await dev.get("/version")).json()).toMatchObject({ instance: "test", folder: "/srv/größe" });
  for (const path of ["/livez", "/v1/nothing"])
    expect((await dev.get(path)).headers["carillon-folder"]).toBe(encodeURI("/srv/größe"));
  expect((await apiUnderTest().get("/livez")).headers).not.toHaveProperty("carillon-folder");
});
