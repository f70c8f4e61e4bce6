import { createHash } from "node:crypto";
import { readCallback } from "@carillon/contract";
import { CarillonError } from "@carillon/core";
import { type ApiOptions, handlers } from "./http/handler.js";

const tokenShape = /^[A-Za-z0-9_-]{43}$/;

export function callbackHandlers({ engine }: ApiOptions) {
  return handlers({
    async answerCallback({ params: { token }, body }) {
      const answer = readCallback(body);
      if (!tokenShape.test(token)) throw unknown();
      const tokenHash = createHash("sha256").update(token).digest("hex");
      const outcome = await engine.waitingRuns.answer(tokenHash, answer);
      if (outcome === "taken") return { status: 204 };
      if (outcome === "unknown") throw unknown();
      if (outcome === "used")
        throw new CarillonError("callback_used", "This callback was already answered; the first answer counts.");
      throw new CarillonError("callback_over", "The attempt that waited for this callback has ended.");
    },
  });
}

function unknown(): CarillonError {
  return new CarillonError("not_found", "There is no such callback.");
}
