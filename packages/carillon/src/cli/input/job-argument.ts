import type { Job } from "@carillon/contract";
import type { Command } from "commander";
import { type Invocation, requiredArg } from "../command.js";
import type { Io } from "../io.js";
import { outputForm, renderJson, withOutputForm } from "../output/form.js";
import { renderJob } from "../output/job-view.js";
import { withServerAddress } from "./server-address.js";

/** A command about one job that exists. */
export function withJobArgument(command: Command): Command {
  return withServerAddress(withOutputForm(command.argument("<job>", "its id, or @ and its key")));
}

export const jobArgument = (invocation: Invocation): string => requiredArg(invocation, 0);

/** The job that a command ended with. */
export async function printJob(io: Io, invocation: Invocation, job: Job): Promise<void> {
  const form = outputForm(invocation);
  await io.out(form === "table" ? renderJob(job) : renderJson(job, form));
}
