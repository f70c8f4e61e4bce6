import type { Client } from "@carillon/client";
import type { Command } from "commander";
import { serverAddress, withServerAddress } from "../client.js";
import { type Invocation, requiredArg } from "../command.js";
import { CliError, ExitCode } from "../exit-codes.js";
import type { Io } from "../io.js";
import { withOutputForm } from "../output.js";
import type { OwnLimits } from "../output/own-limits.js";
import { shellWord, undoLine } from "../undo.js";

/** Who has limits of its own. */
export type LimitOwner =
  | { readonly of: "queue"; readonly name: string }
  | { readonly of: "namespace"; readonly name: string };

/** What a command is about: one limit, or what a queue or a namespace has of its own. */
export type LimitTarget = { readonly of: "limit"; readonly id: string } | LimitOwner;

const DEFAULT_NAMESPACE = "default";

export function withLimitArgument(command: Command): Command {
  const what = "the id of a limit (lim_42), queue:<name>, or namespace";
  return withServerAddress(withOutputForm(command.argument("<limit>", what)));
}

export function limitTarget(io: Io, invocation: Invocation): LimitTarget {
  const text = requiredArg(invocation, 0);
  if (/^lim_\d+$/.test(text)) return { of: "limit", id: text };
  if (text === "namespace") return ownNamespace(io, invocation);
  if (/^queue:./.test(text)) return { of: "queue", name: text.slice("queue:".length) };
  throw new CliError(
    ExitCode.usage,
    `${JSON.stringify(text)} names no limit: give its id (lim_42, see carillon limit list), queue:<name>, or namespace`,
  );
}

export function ownNamespace(io: Io, invocation: Invocation): LimitOwner {
  return { of: "namespace", name: serverAddress(io, invocation).namespace ?? DEFAULT_NAMESPACE };
}

/** As it is typed. */
export const ownerText = (owner: LimitOwner): string =>
  owner.of === "queue" ? shellWord(`queue:${owner.name}`) : "namespace";

export function changeOwn(client: Client, { of, name }: LimitOwner, change: Partial<OwnLimits>): Promise<OwnLimits> {
  return of === "queue" ? client.queues.update(name, change) : client.namespaces.update(name, change);
}

export function readOwn(client: Client, { of, name }: LimitOwner): Promise<OwnLimits> {
  return of === "queue" ? client.queues.get(name) : client.namespaces.get(name);
}

/** Says what was done and what makes those kinds of limits of a queue or a namespace what they were, one after the other. */
export function sayUndoOfOwn(
  io: Io,
  invocation: Invocation,
  {
    done,
    owner,
    before,
    kinds,
  }: { done: string; owner: LimitOwner; before: OwnLimits; kinds: readonly (keyof OwnLimits)[] },
): void {
  const target = ownerText(owner);
  const undos = kinds.map((kind) => {
    const limit = before[kind];
    if (limit === null) return `limit remove ${target} --kind ${kind === "rate_limit" ? "rate" : kind}`;
    return `limit set ${target} ${flagsOf(limit)}`;
  });
  io.info(`carillon: ${done}; undo with: ${undos.map((undo) => undoLine(invocation, undo)).join(" && ")}`);
}

interface Bound {
  readonly limit: number;
  readonly per?: string | null;
  readonly burst?: number | null;
}

export function flagsOf({ limit, per, burst }: Bound): string {
  const flags = [`--limit ${limit}`];
  if (per !== undefined && per !== null) flags.push(`--per ${per}`);
  if (per !== undefined && per !== null && burst !== undefined && burst !== null) flags.push(`--burst ${burst}`);
  return flags.join(" ");
}
