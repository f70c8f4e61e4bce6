import type { Breaker } from "@carillon/contract";
import type { Commands } from "../command.js";
import { type Column, fieldColumns, renderFields } from "../output.js";
import { changeCommand, getCommand, listCommand, type Resource } from "../verbs.js";

const columns: readonly Column<Breaker>[] = [
  ...fieldColumns("name", "state", "reason"),
  { title: "OPENED", value: ({ opened_at: at }) => at },
  { title: "TRIES AT", value: ({ probe_at: at }) => at ?? "" },
];

const breaker: Resource<Breaker> = {
  argument: "<breaker>",
  argumentHelp: "its name, or that of its task",
  get: (client, name) => client.breakers.get(name),
  render: ({ name, state, reason, opened_at: openedAt, probe_at: probeAt, openings }) =>
    renderFields([
      ["name", name],
      ["state", state],
      ["reason", reason],
      ["opened", openedAt],
      ["tries at", probeAt ?? ""],
      ["openings", String(openings)],
    ]),
};

export const breakerCommands: Commands = {
  list: listCommand({
    summary: "list circuit breakers that have opened",
    rows: "breakers",
    columns,
    page: ({ client }, query) => client.breakers.list(query),
    examples: ["carillon breaker list"],
  }),
  get: getCommand(breaker, {
    summary: "show one circuit breaker",
    examples: ["carillon breaker get payments-api"],
  }),
  reset: changeCommand(breaker, {
    summary: "close a circuit breaker",
    notes: "Workers get the runs that it held back; it opens again if those fail.",
    examples: ["carillon breaker reset payments-api"],
    change: async ({ client, name }) => ({
      thing: await client.breakers.reset(name),
      done: "closed",
      undo: null,
      instead: "to hold runs back, use carillon queue pause <queue>",
    }),
  }),
};
