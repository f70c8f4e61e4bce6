import { createHash } from "node:crypto";
import { readCallback } from "@carillon/contract";
import { CarillonError } from "@carillon/core";
import type { Handlers } from "./http/call.js";
import type { ApiOptions } from "./http/handler.js";

const tokenShape = /^[A-Za-z0-9_-]{43}$/;

export function callbackHandlers({ engine }: ApiOptions): Pick<Handlers, "answerCallback"> {
  return {
    async answerCallback({ params: { token }, body }) {
      const answer = readCallback(body);
      if (!tokenShape.test(token)) throw unknown();
      const tokenHash = createHash("sha256").update(token).digest("hex");
      const taken = await engine.answerCallback(tokenHash, answer);
      if (taken === "taken") return { status: 204 };
      if (taken === "unknown") throw unknown();
      if (taken === "used") throw new CarillonError("callback_used", "this callback came before; the first one counts");
      throw new CarillonError("callback_over", "the attempt that waited for this callback is over");
    },
  };
}

function unknown(): CarillonError {
  return new CarillonError("not_found", "there is no such callback");
}
