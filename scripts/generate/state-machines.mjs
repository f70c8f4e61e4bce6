// Generates docs/state-machines.md from the transition tables in packages/core.
import { isProgram, publish } from "./publish.mjs";

/** The page. `core` is what packages/core exports, built or as sources. */
export function renderStateMachines(core) {
  const finals = core.runStatusGroups.finished;
  return [
    "<!-- Made by scripts/generate/state-machines.mjs from the tables in packages/core. Do not edit. -->",
    "# State machines",
    "",
    "Each machine is one table and one function. Statements in the store take their `from` and `to` from the table.",
    "",
    ...machine("Run", {
      intro: "The status of a run. The last four are final: they never change. A redrive creates a new run.",
      states: core.runStatuses,
      initial: core.initialRunStatuses,
      finals,
      transitions: core.runTransitions,
    }),
    "`status_reason` states why a run has its status:",
    "",
    "| status | reasons |",
    "|---|---|",
    ...Object.entries(core.runStatusReasons)
      .filter(([, reasons]) => reasons.length > 0)
      .map(([status, reasons]) => `| ${status} | ${reasons.join(", ")} |`),
    "",
    "Filters know these groups of statuses:",
    "",
    "| group | statuses |",
    "|---|---|",
    ...Object.entries(core.runStatusGroups).map(([group, statuses]) => `| ${group} | ${statuses.join(", ")} |`),
    "",
    ...machine("Job", {
      intro: "The state of a job: whether it fires. The results of its runs are statuses of the runs.",
      states: core.jobStates,
      initial: ["active"],
      finals: ["cancelled"],
      transitions: core.jobTransitions,
    }),
  ].join("\n");
}

function machine(title, { intro, states, initial, finals, transitions }) {
  const events = Object.entries(transitions);
  const arrows = states.flatMap((from) =>
    states.flatMap((to) => {
      const names = events.filter(([, rule]) => rule.to === to && rule.from.includes(from)).map(([name]) => name);
      return names.length > 0 ? [`  ${from} --> ${to}: ${names.join(", ")}`] : [];
    }),
  );
  return [
    `## ${title}`,
    "",
    intro,
    "",
    "```mermaid",
    "stateDiagram-v2",
    ...initial.map((state) => `  [*] --> ${state}`),
    ...arrows,
    ...finals.map((state) => `  ${state} --> [*]`),
    "```",
    "",
    "| event | from | to | when |",
    "|---|---|---|---|",
    ...events.map(([name, rule]) => `| ${name} | ${rule.from.join(", ")} | ${rule.to} | ${rule.when} |`),
    "",
  ];
}

if (isProgram(import.meta.url))
  publish(
    import.meta.url,
    "docs/state-machines.md",
    renderStateMachines(await import("../../packages/core/dist/index.js")),
  );
