import { createHash } from "node:crypto";
import { type CallbackAnswer, type NoteAnswer, type NoteContent, systemRandomBytes } from "@carillon/core";
import { AwaitCallbackError } from "./errors.js";
import type { Callback } from "./task.js";

const tokenBytes = 32;

/** Only its hash leaves this process before the handler hands the token on. */
export async function openCallback(ask: (content: NoteContent) => Promise<NoteAnswer>): Promise<Callback> {
  const token = Buffer.from(systemRandomBytes(tokenBytes)).toString("base64url");
  const tokenHash = createHash("sha256").update(token).digest("hex");
  const answer = await ask({ kind: "callback", tokenHash });
  return {
    token,
    answer: answer.kind === "value" ? (JSON.parse(answer.valueJson) as CallbackAnswer) : null,
    wait: (waitMs) => new AwaitCallbackError(waitMs),
  };
}
