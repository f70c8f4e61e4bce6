import type { Client } from "@carillon/client";
import type { Invocation } from "./command.js";
import type { Io } from "./io.js";
import { outputForm } from "./output.js";

/** Tasks that are looked at; where there are more, nothing is said. */
const maxTasks = 1_000;

/** Tells people, once something was made, that nobody runs its task yet: a slip of the pen, or a worker that is to be started. */
export async function warnIfUnserved(io: Io, invocation: Invocation, client: Client, task: string): Promise<void> {
  if (outputForm(invocation) !== "table") return;
  const { tasks, next_page_token: more } = await client.tasks.list({ page_size: maxTasks });
  if (more !== null || tasks.some(({ name, workers }) => name === task && workers > 0)) return;
  const served = tasks.filter((one) => one.workers > 0 && !one.name.startsWith("carillon:")).map(({ name }) => name);
  const who = served.length === 0 ? "there is no worker" : `served are ${served.slice(0, 10).join(", ")}`;
  io.info(`carillon: warning: no worker serves task ${task} yet (${who}); its runs wait until one does`);
}
