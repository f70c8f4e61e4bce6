import { present } from "@carillon/core";
import type { Delivery, Webhook, WebhookPatch } from "@carillon/contract";
import { type Command, Option } from "commander";
import { type Commands, flagOption, type Invocation, requiredArg, textOption } from "../command.js";
import { usageError } from "../exit-codes.js";
import { type Column, fieldColumns, fieldsOf, renderFields } from "../output.js";
import { shellWord } from "../undo.js";
import { changeCommand, createCommand, deleteCommand, getCommand, listCommand, type Resource } from "../verbs.js";

type ShownWebhook = Webhook & { readonly secret?: string };

const columns: readonly Column<Webhook>[] = [
  ...fieldColumns("id", "url"),
  { title: "ON", value: ({ on }) => on.join(",") },
  { title: "STATE", value: stateOf },
];

function stateOf({ enabled, disabled_reason: reason, failing_since: since }: Webhook): string {
  if (!enabled) return reason === null ? "disabled" : `disabled (${reason})`;
  return since === null ? "enabled" : `failing since ${since}`;
}

const webhook: Resource<ShownWebhook> = {
  argument: "<webhook>",
  argumentHelp: "its id",
  get: (client, id) => client.webhooks.get(id),
  render: (one) =>
    renderFields([
      ...fieldsOf(one, "id", "url"),
      ["on", one.on.join(", ")],
      ["tasks", one.tasks?.join(", ") ?? null],
      ["queues", one.queues?.join(", ") ?? null],
      ["include", one.include.join(", ")],
      ["state", stateOf(one)],
      // The server shows it once, when it was made.
      ...(one.secret === undefined ? [] : [["secret", one.secret] as const]),
    ]),
};

const deliveryColumns: readonly Column<Delivery>[] = [
  ...fieldColumns("id", "type"),
  { title: "RUN", value: (one) => one.run_id },
  { title: "STATUS", value: ({ status }) => status },
  { title: "TRIES", value: ({ attempt }) => attempt, align: "right" },
  { title: "ANSWER", value: (one) => one.response_status ?? one.error?.message ?? null },
];

/** What a command about one webhook prints when it sends something. */
const delivery = {
  argument: webhook.argument,
  argumentHelp: webhook.argumentHelp,
  render: (one: Delivery): string =>
    renderFields([
      ["delivery", one.id],
      ...fieldsOf(one, "type", "status"),
      ["tries", one.attempt],
      ["answer", one.response_status],
      ["error", one.error === null ? null : one.error.message],
    ]),
};

const sent = (webhookId: string) => ({
  done: "being sent",
  undo: null,
  instead: `follow it with carillon webhook deliveries ${webhookId}`,
});

function withFilterFlags(target: Command): Command {
  return target
    .option("--on <ends>", "how runs may have ended: succeeded, failed, cancelled; separated by commas")
    .option("--tasks <names>", "only runs of these tasks, separated by commas; * for all")
    .option("--queues <names>", "only runs in these queues, separated by commas; * for all")
    .option("--include <parts>", "what messages carry: payload, output, error, separated by commas; or none")
    .option("--description <text>", "for people who find it in the list");
}

const ends = ["succeeded", "failed", "cancelled", "dead"] as const;
const parts = ["payload", "output", "error"] as const;

function filterOf(invocation: Invocation) {
  const on = choicesOf(invocation, "on", ends);
  const include = textOption(invocation, "include") === "none" ? [] : choicesOf(invocation, "include", parts);
  const [tasks, queues] = ["tasks", "queues"].map((name) => namesOf(textOption(invocation, name)));
  const text = textOption(invocation, "description");
  return present({ on, tasks, queues, include, description: text === "" ? null : text });
}

/** Null: all of them. */
function namesOf(text: string | undefined): string[] | null | undefined {
  return text === "*" ? null : text?.split(",").map((name) => name.trim());
}

function choicesOf<Choice extends string>(
  invocation: Invocation,
  name: string,
  known: readonly Choice[],
): Choice[] | undefined {
  return textOption(invocation, name)
    ?.split(",")
    .map((given) => {
      const choice = known.find((one) => one === given.trim());
      if (choice !== undefined) return choice;
      throw usageError(`--${name}: ${JSON.stringify(given)} is not one of ${known.join(", ")}.`);
    });
}

/** The flags that give a webhook the filter that it had. */
function filterFlags(before: Webhook, { isNew }: { readonly isNew: boolean }): string {
  const names = (flag: string, given: readonly string[] | null): string[] => {
    if (given !== null) return [`--${flag} ${shellWord(given.join(","))}`];
    return isNew ? [] : [`--${flag} '*'`];
  };
  return [
    `--on ${before.on.join(",")}`,
    ...names("tasks", before.tasks),
    ...names("queues", before.queues),
    `--include ${before.include.length === 0 ? "none" : before.include.join(",")}`,
    ...(before.description === null && isNew ? [] : [`--description ${shellWord(before.description ?? "")}`]),
  ].join(" ");
}

export const webhookCommands: Commands = {
  create: createCommand(webhook, {
    summary: "send messages to an address when runs end",
    define: (target) => withFilterFlags(target.argument("<url>", "where messages are posted to")),
    notes: "The secret that signs the messages is shown this once.",
    examples: ["carillon webhook create https://example.com/hooks/carillon --on failed"],
    async change({ client, invocation }) {
      // Null takes a filter away, and a new webhook has none.
      const { tasks, queues, description, ...given } = filterOf(invocation);
      const thing = await client.webhooks.create({
        url: requiredArg(invocation, 0),
        ...given,
        ...(tasks && { tasks }),
        ...(queues && { queues }),
        ...(description && { description }),
      });
      return { thing, done: "created", undo: `webhook delete ${thing.id}` };
    },
  }),
  list: listCommand({
    summary: "list webhook endpoints, newest first",
    rows: "webhooks",
    columns,
    page: ({ client }, query) => client.webhooks.list(query),
    examples: ["carillon webhook list"],
  }),
  get: getCommand(webhook, {
    summary: "show one endpoint",
    notes: "Its secret was shown when it was created; a new one: carillon webhook rotate.",
    examples: ["carillon webhook get whk_01k9zq3v5e0r8t2b7n4m6x1c9d"],
  }),
  update: changeCommand(webhook, {
    summary: "change an endpoint, enable or disable it",
    define: (target) =>
      withFilterFlags(target)
        .option("--to <url>", "where messages are posted to from now on")
        .addOption(new Option("--enable", "send it messages again").conflicts("disable"))
        .option("--disable", "send it no messages for now"),
    examples: ["carillon webhook update whk_01k9zq3v5e0r8t2b7n4m6x1c9d --enable"],
    async change({ client, invocation, name: id }) {
      const url = textOption(invocation, "to");
      const patch: WebhookPatch = {
        ...filterOf(invocation),
        ...(url !== undefined && { url }),
        ...(flagOption(invocation, "enable") && { enabled: true }),
        ...(flagOption(invocation, "disable") && { enabled: false }),
      };
      if (Object.keys(patch).length === 0)
        throw usageError("Give what is to change, as in --on failed, --to <url> or --disable.");
      const before = await client.webhooks.get(id);
      const back = [
        `--to ${shellWord(before.url)}`,
        filterFlags(before, { isNew: false }),
        before.enabled ? "--enable" : "--disable",
      ];
      const thing = await client.webhooks.update(id, patch);
      return { thing, done: "changed", undo: `webhook update ${id} ${back.join(" ")}` };
    },
  }),
  rotate: changeCommand(webhook, {
    summary: "give an endpoint a new secret",
    define: (target) => target.option("--overlap <duration>", "how long the old secret signs as well (default: 24h)"),
    examples: ["carillon webhook rotate whk_01k9zq3v5e0r8t2b7n4m6x1c9d --overlap 2h"],
    async change({ client, invocation, name }) {
      const overlap = textOption(invocation, "overlap");
      const thing = await client.webhooks.rotateSecret(name, overlap === undefined ? {} : { overlap });
      return { thing, done: `the old secret signs as well until ${thing.old_secret_until ?? "now"}`, undo: null };
    },
  }),
  test: changeCommand(delivery, {
    summary: "send an endpoint a test",
    examples: ["carillon webhook test whk_01k9zq3v5e0r8t2b7n4m6x1c9d"],
    change: async ({ client, name }) => ({ thing: await client.webhooks.test(name), ...sent(name) }),
  }),
  deliveries: listCommand({
    summary: "list the messages that were sent to an endpoint",
    subject: webhook,
    rows: "deliveries",
    columns: deliveryColumns,
    page: ({ client, name }, query) => client.webhooks.deliveries(name, query),
    examples: ["carillon webhook deliveries whk_01k9zq3v5e0r8t2b7n4m6x1c9d"],
  }),
  redeliver: changeCommand(delivery, {
    summary: "send a message again",
    define: (target) => target.argument("<delivery>", "the message"),
    examples: ["carillon webhook redeliver whk_01k9zq3v5e0r8t2b7n4m6x1c9d run_01k9zq3v5e0r8t2b7n4m6x1c9d"],
    change: async ({ client, invocation, name }) => ({
      thing: await client.webhooks.redeliver(name, requiredArg(invocation, 1)),
      ...sent(name),
    }),
  }),
  delete: deleteCommand(webhook, {
    summary: "delete an endpoint",
    examples: ["carillon webhook delete whk_01k9zq3v5e0r8t2b7n4m6x1c9d"],
    remove: ({ client, name }) => client.webhooks.delete(name),
    done: "deleted, and its secret with it",
    undo: (before) => `webhook create ${shellWord(before.url)} ${filterFlags(before, { isNew: true })}`,
  }),
};
