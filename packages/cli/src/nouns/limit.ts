import type { Client } from "@carillon/client";
import type { Limit, LimitQuery, Namespace } from "@carillon/contract";
import { limitKinds, limitScopes, maxLimit, present } from "@carillon/core";
import { Option } from "commander";
import { found } from "../client.js";
import { callerOf } from "../server-address.js";
import { type Commands, type Invocation, numberOption, textFields, textOption } from "../command.js";
import { CliError, ExitCode, usageError } from "../exit-codes.js";
import { wholeNumber } from "../flags.js";
import type { Io } from "../io.js";
import { type Column, outputForm, printThing, renderFields, renderJson, renderRows } from "../output.js";
import { printUndo, shellWord, undoLine } from "../undo.js";
import { type Call, listCommand, serverCommand, type Subject } from "../verbs.js";

/** A queue or a namespace, whose limits are settings of its own. */
type LimitOwner = { readonly of: "queue"; readonly name: string } | { readonly of: "namespace"; readonly name: string };

/** One limit by its id, or the limits of an owner. */
type LimitTarget = { readonly of: "limit"; readonly id: string } | LimitOwner;

const subject: Subject = {
  argument: "<limit>",
  argumentHelp: "the id of a limit (lim_42), queue:<name>, or namespace",
};

const defaultNamespace = "default";

function toTarget({ io, invocation, name }: Call): LimitTarget {
  if (/^lim_\d+$/.test(name)) return { of: "limit", id: name };
  if (name === "namespace") return ownNamespace(io, invocation);
  if (/^queue:./.test(name)) return { of: "queue", name: name.slice("queue:".length) };
  throw usageError(
    `${JSON.stringify(name)} names no limit. Give its id (lim_42, see carillon limit list), queue:<name>, or namespace.`,
  );
}

function ownNamespace(io: Io, invocation: Invocation): LimitOwner {
  return { of: "namespace", name: callerOf(io, invocation).namespace ?? defaultNamespace };
}

/** Whose setting a limit with an id is; null for a limit that runs and jobs declare. */
function ownerOf({ scope, key }: Limit, { io, invocation }: Call): LimitOwner | null {
  if (scope === "queue") return { of: "queue", name: key };
  return scope === "namespace" ? ownNamespace(io, invocation) : null;
}

/** The limit in words, as `limit update` takes it. */
const boundText = ({ kind, limit, per }: Limit): string => {
  if (kind === "order") return "one at a time, in order";
  return per === null ? `${limit} at a time` : `${limit} per ${per}`;
};

const waitingText = ({ waiting, waiting_exact: isExact }: Limit): string => `${waiting}${isExact ? "" : " or more"}`;

const columns: readonly Column<Limit>[] = [
  { title: "ID", value: ({ id }) => id },
  { title: "OF", value: ({ scope }) => scope },
  { title: "KEY", value: ({ key }) => key },
  { title: "LIMIT", value: boundText },
  { title: "USED", value: ({ used }) => String(used), align: "right" },
  { title: "WAITING", value: waitingText, align: "right" },
  { title: "SET BY", value: ({ fixed, scope }) => (fixed ? "operator" : scope === "key" ? "runs" : scope) },
];

function renderLimit(limit: Limit): string {
  return renderFields([
    ["id", limit.id],
    ["of", `${limit.scope} ${limit.key}`.trim()],
    ["kind", limit.kind],
    ["limit", boundText(limit)],
    ["burst", limit.burst === null ? null : String(limit.burst)],
    ["set by operator", limit.fixed ? "yes" : "no"],
    ["used", String(limit.used)],
    ["waiting", waitingText(limit)],
    ["oldest waits since", limit.oldest_waiting_at],
    ["room again", limit.next_room_at],
    ["stopped by", limit.stopped_by],
  ]);
}

/** Flags of `limit delete --kind`, and the settings of an owner that they name. */
const kinds = { concurrency: ["concurrency"], rate: ["rate_limit"], both: ["concurrency", "rate_limit"] } as const;

export const limitCommands: Commands = {
  list: listCommand({
    summary: "list limits that are in use or set by an operator",
    rows: "limits",
    columns,
    define: (target) =>
      target
        .addOption(new Option("--scope <scope>", "only of these").choices([...limitScopes]))
        .addOption(new Option("--kind <kind>", "only of this kind").choices([...limitKinds]))
        .option("--key <key>", "only with this key, filled in"),
    notes: "Lists limits that runs use or used within the last hour, and those that an operator set.",
    examples: ["carillon limit list", "carillon limit list --kind rate --key weather-api"],
    filter: ({ invocation }) => textFields(invocation, ["scope", "kind", "key"]) as Partial<LimitQuery>,
    page: ({ client }, query) => client.limits.list(query),
  }),
  get: serverCommand(subject, {
    summary: "show who holds a limit and how many wait",
    examples: ["carillon limit get lim_42", "carillon limit get queue:email"],
    async run(call) {
      const { io, invocation, client } = call;
      const target = toTarget(call);
      if (target.of === "limit") return printThing(io, invocation, await client.limits.get(target.id), renderLimit);
      const { limits } = await client.limits.list({ scope: target.of, key: target.of === "queue" ? target.name : "" });
      if (limits.length === 0)
        throw new CliError(ExitCode.notFound, `No run needed a limit of this ${target.of} within the last hour.`);
      const form = outputForm(invocation);
      await io.out(form === "table" ? limits.map(renderLimit).join("\n") : renderRows(limits, form));
    },
  }),
  update: serverCommand(subject, {
    changes: true,
    summary: "set a limit of a queue, of a namespace, or of runs",
    define: (target) =>
      target
        .option("--limit <number>", "so many runs at a time, or starts in a window", wholeNumber(0, maxLimit))
        .option("--per <duration>", "the length of the window: the limit is a rate")
        .option("--burst <number>", "of a rate: so many may wait for a worker", wholeNumber(1, maxLimit)),
    notes: `
Runs that run go on: a limit below their number is reached as they end. A limit of runs and jobs (lim_42) that is set here wins over
what they declare, until it is deleted.`,
    examples: [
      "carillon limit update queue:reports --limit 5",
      "carillon limit update namespace --limit 100 --per 1m",
      "carillon limit update lim_42 --limit 2",
    ],
    async run(call) {
      const target = toTarget(call);
      if (target.of !== "limit") return updateOwner(call, target);
      const before = await call.client.limits.get(target.id);
      const owner = ownerOf(before, call);
      return owner === null ? overrideLimit(call, before) : updateOwner(call, owner, before);
    },
  }),
  delete: serverCommand(subject, {
    changes: true,
    summary: "delete a limit",
    define: (target) =>
      target.addOption(
        new Option("--kind <kind>", "of a queue or a namespace: only this").choices(["concurrency", "rate"]),
      ),
    notes: `
Deletes the limits of a queue or a namespace. A limit of runs and jobs (lim_42) that an operator set is what they declare again.`,
    examples: [
      "carillon limit delete queue:reports",
      "carillon limit delete namespace --kind rate",
      "carillon limit delete lim_42",
    ],
    async run(call) {
      const { io, invocation, client } = call;
      const target = toTarget(call);
      const kind = textOption(invocation, "kind") as "concurrency" | "rate" | undefined;
      if (target.of !== "limit") return deleteOfOwner(call, target, kinds[kind ?? "both"]);
      const before = await client.limits.get(target.id);
      const owner = ownerOf(before, call);
      if (owner !== null) return deleteOfOwner(call, owner, before.kind === "rate" ? kinds.rate : kinds.concurrency);
      if (!before.fixed)
        throw new CliError(
          ExitCode.conflict,
          `No operator set ${target.id}: the runs that name it declare it, and it ends with the last of them.`,
        );
      await printThing(io, invocation, await client.limits.update(target.id, { fixed: false }), renderLimit);
      printUndo(io, invocation, "deleted", `limit update ${target.id} ${flagsOf(before)}`);
    },
  }),
};

/** Sets a limit of runs, over what they declare. */
async function overrideLimit({ io, invocation, client }: Call, before: Limit): Promise<void> {
  const change = present(boundOf(invocation));
  if (Object.keys(change).length === 0) throw nothingToSet();
  await printThing(io, invocation, await client.limits.update(before.id, change), renderLimit);
  const undo = before.fixed ? `limit update ${before.id} ${flagsOf(before)}` : `limit delete ${before.id}`;
  printUndo(io, invocation, "set", undo);
}

/** Sets a limit of a queue or a namespace: a rate if it has a window. `known`: the limit that was named by its id. */
async function updateOwner(call: Call, owner: LimitOwner, known?: Limit): Promise<void> {
  const { client, invocation } = call;
  const { limit = known?.limit, per = known?.per ?? undefined, burst } = boundOf(invocation);
  if (limit === undefined) throw nothingToSet();
  if (limit === 0) throw zeroRefused(owner);
  if (per === undefined && burst !== undefined)
    throw usageError("A burst belongs to a rate: give --per <duration> too.");
  // A queue that does not exist is created with its limits.
  const none = { concurrency: null, rate_limit: null };
  const before =
    owner.of === "queue" ? ((await found(readOwner(client, owner))) ?? none) : await readOwner(client, owner);
  const rate = { limit, per: per ?? "", ...(burst !== undefined && { burst }) };
  const kind = per === undefined ? "concurrency" : "rate_limit";
  const after = await changeOwner(client, owner, per === undefined ? { concurrency: { limit } } : { rate_limit: rate });
  await printOwner(call, owner, after);
  printUndoOfOwner(call, { done: "set", owner, before, kinds: [kind] });
}

async function deleteOfOwner(call: Call, owner: LimitOwner, named: readonly (keyof OwnLimits)[]): Promise<void> {
  const before = await readOwner(call.client, owner);
  const gone = named.filter((kind) => before[kind] !== null);
  if (gone.length === 0) throw new CliError(ExitCode.notFound, `${typedOwner(owner)} has no such limit.`);
  const after = await changeOwner(call.client, owner, Object.fromEntries(gone.map((kind) => [kind, null])));
  await printOwner(call, owner, after);
  printUndoOfOwner(call, { done: "deleted", owner, before, kinds: gone });
}

const typedOwner = (owner: LimitOwner): string =>
  owner.of === "queue" ? shellWord(`queue:${owner.name}`) : "namespace";

function changeOwner(client: Client, { of, name }: LimitOwner, change: Partial<OwnLimits>): Promise<OwnLimits> {
  return of === "queue" ? client.queues.update(name, change) : client.namespaces.update(name, change);
}

function readOwner(client: Client, { of, name }: LimitOwner): Promise<OwnLimits> {
  return of === "queue" ? client.queues.get(name) : client.namespaces.get(name);
}

async function printOwner(
  { io, invocation }: Call,
  { of, name }: LimitOwner,
  { concurrency, rate_limit: rate }: OwnLimits,
): Promise<void> {
  const form = outputForm(invocation);
  if (form !== "table") return io.out(renderJson({ [of]: name, concurrency, rate_limit: rate }, form));
  await io.out(renderFields([[of, name], ...ownLimitFields({ concurrency, rate_limit: rate })]));
}

interface OwnerChange {
  readonly done: string;
  readonly owner: LimitOwner;
  readonly before: OwnLimits;
  readonly kinds: readonly (keyof OwnLimits)[];
}

/** One command for each changed kind, one after the other. */
function printUndoOfOwner({ io, invocation }: Call, { done, owner, before, kinds: changed }: OwnerChange): void {
  const target = typedOwner(owner);
  const undos = changed.map((kind) => {
    const limit = before[kind];
    if (limit === null) return `limit delete ${target} --kind ${kind === "rate_limit" ? "rate" : kind}`;
    return `limit update ${target} ${flagsOf(limit)}`;
  });
  io.info(`carillon: ${done}; undo with: ${undos.map((undo) => undoLine(invocation, undo)).join(" && ")}`);
}

interface Bound {
  readonly limit: number;
  readonly per?: string | null;
  readonly burst?: number | null;
}

function flagsOf({ limit, per, burst }: Bound): string {
  const flags = [`--limit ${limit}`];
  if (per !== undefined && per !== null) flags.push(`--per ${per}`);
  if (per !== undefined && per !== null && burst !== undefined && burst !== null) flags.push(`--burst ${burst}`);
  return flags.join(" ");
}

const boundOf = (invocation: Invocation) => ({
  limit: numberOption(invocation, "limit"),
  per: textOption(invocation, "per"),
  burst: numberOption(invocation, "burst"),
});

const nothingToSet = (): CliError => usageError("Give the new limit: --limit <number>.");

/** A limit of runs may be 0 and lets nothing start; that of a queue or a namespace may not. */
function zeroRefused(owner: LimitOwner): CliError {
  const instead = owner.of === "queue" ? ` To let nothing start: carillon queue pause ${shellWord(owner.name)}.` : "";
  return usageError(`The limit of a ${owner.of} must be a whole number from 1 to ${maxLimit}.${instead}`);
}

/** The limits that a queue or a namespace has itself. */
type OwnLimits = Pick<Namespace, "concurrency" | "rate_limit">;

export function ownLimitFields({ concurrency, rate_limit: rate }: OwnLimits): (readonly [string, string | null])[] {
  const burst = rate?.burst === undefined ? "" : `, a burst of ${rate.burst}`;
  return [
    ["concurrency", concurrency ? `${concurrency.limit} at a time` : null],
    ["rate", rate ? `${rate.limit} per ${rate.per}${burst}` : null],
  ];
}
