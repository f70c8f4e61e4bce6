// Generates docs/reference/cli.md from the declarations of the built command line.
import { publish } from "./publish.mjs";

/** Help is wrapped at the width of a terminal; the page must not depend on it. */
process.stdout.isTTY = false;
const built = (name) => import(new URL(`../../packages/cli/dist/${name}.js`, import.meta.url).href);
const [{ allCommands, words }, { runCli }, { exitCodeMeanings, ExitCode }] = await Promise.all(
  ["nouns", "main", "exit-codes"].map(built),
);

/** The output of a command line. */
async function printed(argv) {
  let text = "";
  const io = { out: async (more) => void (text += more), info: () => undefined, env: {} };
  const code = await runCli(argv, io);
  if (code !== 0) throw new Error(`carillon ${argv.join(" ")} ended with ${code}`);
  return text.trim();
}

const sentence = (summary) => `${summary[0].toUpperCase()}${summary.slice(1)}.`;

async function commandSection({ path, summary, changes }) {
  const name = path.join(" ");
  const note = changes === true ? " It changes something, and prints how to undo that." : "";
  const help = await printed([...path, "--help"]);
  return [`### carillon ${name}`, "", `${sentence(summary)}${note}`, "", "```text", help, "```", ""];
}

const groups = new Map();
const commands = await allCommands();
for (const entry of commands) {
  const group = entry.path.length === 1 ? "" : entry.path[0];
  groups.set(group, [...(groups.get(group) ?? []), entry]);
}

const lines = [
  "<!-- Made by scripts/generate/cli.mjs from the declarations in packages/cli. Do not edit. -->",
  "# Command line",
  "",
  "A command is a noun and a verb: `list`, `get`, `create`, `update`, `delete`, `apply`, and verbs of the domain such as `pause`, `cancel` and",
  "`retry`. `apply` creates or replaces from a document, `update` changes the given parts.",
  "",
  "Data goes to standard output, messages to standard error. `-o table|json|jsonl|yaml` chooses the form, `--json` is `-o json`; data has the",
  "same shape as in the API. Colours and progress bars are for terminals only; `NO_COLOR` turns the colours off. A flag has precedence over a",
  "variable `CARILLON_…`, a variable over the profile or the settings file.",
  "",
  "| exit code | meaning |",
  "|---|---|",
  ...Object.entries(ExitCode).map(([name, code]) => `| ${code} | ${exitCodeMeanings[name]} |`),
  "",
];
for (const [group, entries] of groups) {
  lines.push(group === "" ? "## Commands without a noun" : `## ${group}`, "");
  if (group !== "") lines.push(sentence(words[group].summary), "");
  for (const entry of entries) lines.push(...(await commandSection(entry)));
}
publish(import.meta.url, "docs/reference/cli.md", lines.join("\n"));
