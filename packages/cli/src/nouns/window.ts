import type { Window, WindowPut } from "@carillon/contract";
import type { Commands } from "../command.js";
import { type Column, fieldColumns, fieldsOf, renderFields } from "../output.js";
import { shellWord } from "../undo.js";
import { applyCommand, deleteCommand, getCommand, listCommand, type Resource } from "../verbs.js";

const columns: readonly Column<Window>[] = [
  ...fieldColumns("name", "mode"),
  { title: "ABOUT", value: jobsText },
  { title: "OPEN", value: timeText },
];

const maintenanceWindow: Resource<Window> = {
  argument: "<window>",
  argumentHelp: "its name",
  get: (client, name) => client.maintenanceWindows.get(name),
  render: (one) => renderFields([...fieldsOf(one, "name", "mode"), ["about", jobsText(one)], ["open", timeText(one)]]),
};

/** Which jobs it is about. */
function jobsText({ queue, labels = {} }: Window): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  const parts = [...(queue === undefined ? [] : [`queue ${queue}`]), ...(pairs.length === 0 ? [] : [pairs.join(",")])];
  return parts.length === 0 ? "all jobs" : parts.join(" and ");
}

function timeText({ from, to, cron, time_zone: zone = "UTC", duration }: Window): string {
  return cron === undefined ? `${from ?? ""} to ${to ?? ""}` : `${cron} (${zone}) for ${duration ?? ""}`;
}

/** The command that stores it as it is now. */
function restore({ name, mode, queue, labels, from, to, cron, time_zone: zone, duration }: Window): string {
  const body = { mode, queue, labels, from, to, cron, time_zone: zone, duration };
  return `window apply ${shellWord(name)} ${shellWord(JSON.stringify(body))}`;
}

export const windowCommands: Commands = {
  list: listCommand({
    summary: "list maintenance windows",
    rows: "maintenance_windows",
    columns,
    page: ({ client }, query) => client.maintenanceWindows.list(query),
    examples: ["carillon window list"],
  }),
  get: getCommand(maintenanceWindow, {
    summary: "show one maintenance window",
    examples: ["carillon window get sunday-night"],
  }),
  apply: applyCommand<Window, WindowPut>(maintenanceWindow, {
    summary: "create or replace a maintenance window",
    noun: "window",
    documentHelp: "when it is open, for which jobs, and what it does",
    notes: "Jobs follow at once.",
    examples: [
      `carillon window apply sunday-night '{"mode":"hold","queue":"mail","cron":"0 2 * * SUN","duration":"2h"}'`,
      `carillon window apply move '{"mode":"skip","from":"2030-12-24T00:00:00Z","to":"2030-12-27T00:00:00Z"}'`,
    ],
    put: ({ client, name }, body) => client.maintenanceWindows.put(name, body),
    restore,
  }),
  delete: deleteCommand(maintenanceWindow, {
    summary: "delete a maintenance window",
    notes: "Jobs that it holds fire.",
    examples: ["carillon window delete sunday-night"],
    remove: ({ client }, { name }) => client.maintenanceWindows.delete(name),
    undo: restore,
  }),
};
