import type { Client } from "@carillon/client";
import type { Job } from "@carillon/contract";
import type { Command } from "commander";
import { type Invocation, requiredArg, textOption } from "../command.js";
import type { Io } from "../io.js";
import { outputForm, renderJson, withOutputForm } from "../output/form.js";
import { renderJob } from "../output/job-view.js";
import { withServerAddress } from "./server-address.js";

/** A command about one job that exists. */
export function withJobArgument(command: Command): Command {
  return withServerAddress(withOutputForm(command.argument("<job>", "its key, or its id")));
}

export const jobArgument = (invocation: Invocation): string => jobName(requiredArg(invocation, 0));

/** An id, with its prefix or without. */
const idPattern = /^(job_.*|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;

/** A key may be said without its @ where it cannot be taken for an id. */
export const jobName = (text: string): string => (text.startsWith("@") || idPattern.test(text) ? text : `@${text}`);

/** The id that --job stands for; undefined when it was not given. */
export async function jobIdOption(invocation: Invocation, client: Client): Promise<string | undefined> {
  const given = textOption(invocation, "job");
  if (given === undefined) return undefined;
  const name = jobName(given);
  return name.startsWith("@") ? (await client.jobs.get(name)).id : name;
}

/** The job that a command ended with. */
export async function printJob(io: Io, invocation: Invocation, job: Job): Promise<void> {
  const form = outputForm(invocation);
  await io.out(form === "table" ? renderJob(job) : renderJson(job, form));
}
