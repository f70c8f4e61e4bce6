// The tasks of the empty project that the acceptance script makes.
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

/** Fails while there is no such file, and another try would not help. */
export const charge = task({
  name: "charge",
  run: ({ account }) => {
    if (!existsSync(account)) throw new NonRetryableError("the account is closed");
    return { charged: true };
  },
});

/** Says a first word, and the last one when there is such a file. */
export const talk = task({
  name: "talk",
  run: async ({ until }, ctx) => {
    ctx.log.info("first", { step: 1 });
    while (!existsSync(until)) await sleep(20, null, { signal: ctx.signal });
    ctx.log.warn("last", { step: 2 });
    return { said: 2 };
  },
});
