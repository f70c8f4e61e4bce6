import { present } from "@carillon/core";
import type { Client } from "@carillon/client";
import type { Command } from "commander";
import { clientOf, found } from "./client.js";
import { type CommandBody, type CommandSpec, type Invocation, requiredArg } from "./command.js";
import type { ExitCode } from "./exit-codes.js";
import { listLimit, readJsonArgument, withListLimit } from "./flags.js";
import type { Io } from "./io.js";
import { withServerAddress } from "./server-address.js";
import { type Column, outputForm, printList, printThing, withOutputForm } from "./output.js";
import { printNoUndo, printUndo, shellWord } from "./undo.js";

/** How one thing is named on the command line. */
export interface Subject {
  /** As in `<queue>`. */
  readonly argument: string;
  readonly argumentHelp: string;
  /** The name as the API takes it; what was typed, if left out. */
  readonly toName?: (typed: string) => string;
}

/** One kind of thing that a server has. */
export interface Resource<Thing> extends Subject {
  readonly get: (client: Client, name: string) => Promise<Thing>;
  /** For people; JSON has the rest. */
  readonly render: (thing: Thing) => string;
}

/** One call of a command that talks to a server. */
export interface Call {
  readonly io: Io;
  readonly invocation: Invocation;
  readonly client: Client;
  /** The thing that the command is about; empty for commands about none. */
  readonly name: string;
}

/** What a command of any verb declares. */
type Words = Pick<CommandSpec, "summary" | "define" | "notes" | "examples">;

const withServer = (target: Command): Command => withServerAddress(withOutputForm(target));

type ServerBody = Omit<CommandBody, "run"> & { readonly run: (call: Call) => Promise<ExitCode | void> };

/** A command that talks to a server, about one thing or about none. */
export function serverCommand(
  subject: Subject | null,
  { summary, changes, ...body }: ServerBody & Pick<CommandSpec, "summary" | "changes">,
): CommandSpec {
  return { summary, ...(changes && { changes }), ...serverBody(subject, body) };
}

/** The same for a command whose summary is in the file of its noun. */
export function serverBody(subject: Subject | null, { run, define, ...help }: ServerBody): CommandBody {
  return {
    ...help,
    define(target) {
      if (subject !== null) target.argument(subject.argument, subject.argumentHelp);
      withServer(target);
      define?.(target);
    },
    async run(io, invocation) {
      const typed = subject === null ? "" : requiredArg(invocation, 0);
      const name = subject?.toName?.(typed) ?? typed;
      return run({ io, invocation, client: await clientOf(io, invocation), name });
    },
  };
}

export interface PageQuery {
  readonly page_size: number;
  readonly page_token?: string;
}

type PageOf<Key extends string, Row> = { readonly [key in Key]: readonly Row[] } & {
  readonly next_page_token: string | null;
};

interface ListSpec<Key extends string, Row, Filter> extends Words {
  /** Of whose rows the list is; left out for a list of the whole namespace. */
  readonly subject?: Subject;
  /** The field of the answer that holds the rows. */
  readonly rows: Key;
  /** What the rows are called if there are none; the field in words, if left out. */
  readonly noun?: string;
  readonly columns: readonly Column<Row>[];
  /** Read once, before the first page. */
  readonly filter?: (call: Call) => Filter | Promise<Filter>;
  readonly page: (call: Call, query: PageQuery & Filter) => Promise<PageOf<Key, Row>>;
}

/** `list`: rows page by page, up to --limit. */
export function listCommand<Key extends string, Row, Filter = unknown>({
  subject,
  define,
  ...spec
}: ListSpec<Key, Row, Filter>): CommandSpec {
  const { summary, notes, examples } = spec;
  return serverCommand(subject ?? null, {
    summary,
    ...present({ notes, examples }),
    define(target) {
      withListLimit(target);
      define?.(target);
    },
    run: (call) => printPages(call, spec),
  });
}

export async function printPages<Key extends string, Row, Filter = unknown>(
  call: Call,
  { rows, noun, columns, filter, page }: Omit<ListSpec<Key, Row, Filter>, keyof Words | "subject">,
): Promise<void> {
  const { io, invocation } = call;
  const query = (await filter?.(call)) as Filter;
  await printList(io, {
    form: outputForm(invocation),
    limit: listLimit(invocation),
    columns,
    noun: noun ?? rows.replaceAll("_", " "),
    async page(size, token) {
      const answer = await page(call, { ...query, page_size: size, ...(token !== null && { page_token: token }) });
      return { rows: answer[rows], next: answer.next_page_token };
    },
  });
}

/** `get`: prints one thing. */
export function getCommand<Thing>(resource: Resource<Thing>, words: Words): CommandSpec {
  return serverCommand(resource, {
    ...words,
    run: async ({ io, invocation, client, name }) =>
      printThing(io, invocation, await resource.get(client, name), resource.render),
  });
}

/** How a change ended, and the command that undoes it. */
export type Change<Thing> = { readonly thing: Thing } & (
  | { readonly done: string; readonly undo: string }
  /** Nothing undoes it; `instead` is what the user can do. */
  | { readonly done: string; readonly undo: null; readonly instead?: string }
  /** Why nothing had to be done. */
  | { readonly unchanged: string }
);

interface ChangeSpec<Thing> extends Words {
  readonly change: (call: Call) => Promise<Change<Thing>>;
}

/** `update` and verbs of its kind: changes one thing, prints it as it is now, and says how to undo that. */
export function changeCommand<Thing>(
  resource: Pick<Resource<Thing>, "render"> & Subject,
  { change, ...words }: ChangeSpec<Thing>,
): CommandSpec {
  return changing(resource, resource, words, change);
}

/** `create`: the same for a thing that is not there yet. `define` declares how it is named. */
export function createCommand<Thing>(
  { render }: Pick<Resource<Thing>, "render">,
  { change, ...words }: ChangeSpec<Thing>,
): CommandSpec {
  return changing(null, { render }, words, change);
}

function changing<Thing>(
  subject: Subject | null,
  { render }: Pick<Resource<Thing>, "render">,
  words: Words,
  change: (call: Call) => Promise<Change<Thing>>,
): CommandSpec {
  const run = async (call: Call): Promise<void> => {
    const changed = await change(call);
    await printThing(call.io, call.invocation, changed.thing, render);
    printChange(call, changed);
  };
  return serverCommand(subject, { ...words, changes: true, run });
}

export function printChange({ io, invocation }: Pick<Call, "io" | "invocation">, changed: Change<unknown>): void {
  if ("unchanged" in changed) io.info(`carillon: nothing changed: ${changed.unchanged}`);
  else if (changed.undo === null) printNoUndo(io, changed.done, changed.instead);
  else printUndo(io, invocation, changed.done, changed.undo);
}

interface DeleteSpec<Thing> extends Words {
  readonly remove: (call: Call, before: Thing) => Promise<unknown>;
  readonly done?: string;
  readonly undo: (before: Thing) => string;
}

/** `delete`: prints nothing but the undo for people, and what was deleted as data. */
export function deleteCommand<Thing>(
  resource: Resource<Thing>,
  { remove, undo, done = "deleted", ...words }: DeleteSpec<Thing>,
): CommandSpec {
  const run = async (call: Call): Promise<void> => {
    const { io, invocation, client, name } = call;
    const before = await resource.get(client, name);
    await remove(call, before);
    if (outputForm(invocation) !== "table") await printThing(io, invocation, before, resource.render);
    printUndo(io, invocation, done, undo(before));
  };
  return serverCommand(resource, { ...words, changes: true, run });
}

interface ApplySpec<Thing, Body> extends Words {
  /** The noun, for the undo. */
  readonly noun: string;
  readonly documentHelp: string;
  readonly put: (call: Call, body: Body, before: Thing | null) => Promise<Thing>;
  /** The arguments of the same command that stores the thing as it was. */
  readonly restore: (before: Thing) => string;
}

/** `apply`: creates the thing that a JSON document describes, or replaces it. The server checks the document. */
export function applyCommand<Thing, Body>(
  resource: Resource<Thing>,
  { noun, documentHelp, put, restore, define, ...words }: ApplySpec<Thing, Body>,
): CommandSpec {
  return changeCommand(resource, {
    ...words,
    define(target) {
      target.argument("<json>", `${documentHelp}; @file reads a file, - standard input`);
      define?.(target);
    },
    async change(call) {
      const body = (await readJsonArgument(call.io, requiredArg(call.invocation, 1), "<json>")) as Body;
      const before = await found(resource.get(call.client, call.name));
      const thing = await put(call, body, before);
      if (before === null) return { thing, done: "created", undo: `${noun} delete ${shellWord(call.name)}` };
      return { thing, done: "replaced", undo: restore(before) };
    },
  });
}
