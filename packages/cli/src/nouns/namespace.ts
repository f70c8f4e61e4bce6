import type { Namespace } from "@carillon/contract";
import type { Command } from "commander";
import { type Commands, type Invocation, numberOption, requiredArg } from "../command.js";
import { usageError } from "../exit-codes.js";
import { wholeNumber } from "../flags.js";
import { ownLimitFields } from "./limit.js";
import { type Column, fieldsOf, renderFields } from "../output.js";
import { changeCommand, createCommand, getCommand, listCommand, type Resource } from "../verbs.js";

const maxWeight = 1_000;

const columns: readonly Column<Namespace>[] = [
  { title: "NAME", value: ({ name }) => name },
  { title: "WEIGHT", value: ({ weight }) => String(weight), align: "right" },
  { title: "CREATED", value: ({ created_at: at }) => at },
];

const namespace: Resource<Namespace> = {
  argument: "<name>",
  argumentHelp: "its name",
  get: (client, name) => client.namespaces.get(name),
  render: (one) =>
    renderFields([...fieldsOf(one, "name", "weight"), ...ownLimitFields(one), ["created", one.created_at]]),
};

const withWeight = (target: Command): Command =>
  target.option("--weight <number>", "its share of workers that serve several namespaces", wholeNumber(1, maxWeight));

function weightOption(invocation: Invocation): { readonly weight?: number } {
  const weight = numberOption(invocation, "weight");
  return weight === undefined ? {} : { weight };
}

export const namespaceCommands: Commands = {
  list: listCommand({
    summary: "list namespaces by name",
    rows: "namespaces",
    columns,
    page: ({ client }, query) => client.namespaces.list(query),
    examples: ["carillon namespace list"],
  }),
  get: getCommand(namespace, {
    summary: "show one namespace and its limits",
    examples: ["carillon namespace get billing"],
  }),
  create: createCommand(namespace, {
    summary: "create a namespace",
    define: (target) => withWeight(target.argument("<name>", "its name")),
    examples: ["carillon namespace create billing --weight 3"],
    async change({ client, invocation }) {
      const name = requiredArg(invocation, 0);
      const thing = await client.namespaces.create({ name, ...weightOption(invocation) });
      return { thing, done: `created; use it with --namespace ${name}`, undo: null, instead: "a namespace stays" };
    },
  }),
  update: changeCommand(namespace, {
    summary: "change the weight of a namespace",
    define: withWeight,
    notes: "The new weight counts from the next claim on, for workers that serve several namespaces.",
    examples: ["carillon namespace update billing --weight 5"],
    async change({ client, invocation, name }) {
      const change = weightOption(invocation);
      if (change.weight === undefined) throw usageError("Give the new weight: --weight <number>.");
      const { weight } = await client.namespaces.get(name);
      const thing = await client.namespaces.update(name, change);
      return { thing, done: "changed", undo: `namespace update ${name} --weight ${weight}` };
    },
  }),
};
