import type { Client } from "@carillon/client";
import type { RunExplanation } from "@carillon/contract";
import { type Invocation, requiredArg } from "./command.js";
import type { Io } from "./io.js";
import { outputForm, renderJson } from "./output/form.js";
import { renderJobExplanation, renderRunExplanation } from "./output/explanation-view.js";

/** A run may wait for a run that waits for a run; nobody reads further than this. */
const longestChain = 5;

export async function explainRun(io: Io, invocation: Invocation, client: Client): Promise<void> {
  const explanation = await client.runs.explain(requiredArg(invocation, 0));
  const form = outputForm(invocation);
  if (form !== "table") return io.out(renderJson(explanation, form));
  await io.out(renderRunExplanation(explanation, await chainOf(client, explanation)));
}

export async function explainJob(io: Io, invocation: Invocation, client: Client, job: string): Promise<void> {
  const explanation = await client.jobs.explain(job);
  const form = outputForm(invocation);
  if (form !== "table") return io.out(renderJson(explanation, form));
  const because = explanation.run === null ? [] : await chainOf(client, explanation.run);
  await io.out(renderJobExplanation(explanation, because));
}

/** What the run waits for where that is another run, and what that one waits for in turn. */
async function chainOf(client: Client, first: RunExplanation): Promise<RunExplanation[]> {
  const chain: RunExplanation[] = [];
  for (let one = first; chain.length < longestChain;) {
    const next = one.facts["run"];
    if (typeof next !== "string") break;
    one = await client.runs.explain(next);
    chain.push(one);
  }
  return chain;
}
