// The tasks of the empty project that the acceptance script creates.
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { NonRetryableError, task } from "carillon";

export const greet = task({
  name: "greet",
  run: ({ name }, ctx) => {
    ctx.log.info(`greeting ${name}`);
    return { hello: name };
  },
});

/** Fails without a retry while the file does not exist. */
export const charge = task({
  name: "charge",
  run: ({ account }) => {
    if (!existsSync(account)) throw new NonRetryableError("the account is closed");
    return { charged: true };
  },
});

/** Logs a first line, and the last one when the file exists. */
export const talk = task({
  name: "talk",
  run: async ({ until }, ctx) => {
    ctx.log.info("first", { step: 1 });
    while (!existsSync(until)) await sleep(20, null, { signal: ctx.signal });
    ctx.log.warn("last", { step: 2 });
    return { said: 2 };
  },
});
