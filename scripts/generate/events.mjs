// Generates docs/reference/events.md from the list of events in packages/core and their fields in packages/contract.
import { openApiDocument } from "../../packages/contract/dist/index.js";
import { eventGroups, eventList } from "../../packages/core/dist/index.js";
import { publish } from "./publish.mjs";

const { properties } = openApiDocument("0").components.schemas.Event;

function page() {
  return [
    "<!-- Made by scripts/generate/events.mjs from the list in packages/core. Do not edit. -->",
    "# Events",
    "",
    "`GET /v1/events` sends these events with the fields in snake case, as in these tables, and with `type` and `at`. In the SDK,",
    "`app.on()` passes them with the same fields in camel case. [The guide](../guides/events.md) shows how to follow them.",
    ...eventGroups.flatMap((group) => ["", `## ${group}`, "", ...eventTable(group)]),
    "",
    "## Fields",
    "",
    "| field | meaning |",
    "|---|---|",
    ...fieldRows(),
    "",
  ].join("\n");
}

function eventTable(group) {
  const rows = Object.entries(eventList)
    .filter(([type]) => type.startsWith(`${group}.`))
    .map(([type, { meaning, fields }]) => `| \`${type}\` | ${meaning} | ${namesOf(fields).join(", ")} |`);
  return ["| event | meaning | fields |", "|---|---|---|", ...rows];
}

function namesOf(fields) {
  return Object.keys(fields).map((name) => `\`${name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}\``);
}

function fieldRows() {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const meaning = schema.description ?? schema.anyOf?.find((one) => one.description !== undefined)?.description;
    return meaning === undefined || name === "type" || name === "at" ? [] : [`| \`${name}\` | ${meaning} |`];
  });
}

publish(import.meta.url, "docs/reference/events.md", page());
