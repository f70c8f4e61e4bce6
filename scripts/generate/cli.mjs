// Generates docs/reference/cli.md from the declarations of the built command line.
import { publish } from "./publish.mjs";

/** Help is wrapped at the width of a terminal; the page must not depend on it. */
process.stdout.isTTY = false;
const built = (name) => import(new URL(`../../packages/carillon/dist/cli/${name}.js`, import.meta.url).href);
const [{ commands, nouns }, { runCli }, { exitCodeWords, ExitCode }] = await Promise.all(
  ["manifest", "main", "exit-codes"].map(built),
);

/** The output of a command line. */
async function printed(argv) {
  let text = "";
  const io = { out: async (more) => void (text += more), talk: () => undefined, env: {} };
  const code = await runCli(argv, io);
  if (code !== 0) throw new Error(`carillon ${argv.join(" ")} ended with ${code}`);
  return text.trim();
}

async function commandSection({ path, summary, changes }) {
  const name = path.join(" ");
  const note = changes === true ? " It changes something, and prints how to undo that." : "";
  const help = await printed([...path, "--help"]);
  const sentence = summary[0].toUpperCase() + summary.slice(1);
  return [`### carillon ${name}`, "", `${sentence}.${note}`, "", "```text", help, "```", ""];
}

const groups = new Map();
for (const entry of commands) {
  const group = entry.path.length === 1 ? "" : entry.path[0];
  groups.set(group, [...(groups.get(group) ?? []), entry]);
}

const lines = [
  "<!-- Made by scripts/generate/cli.mjs from the declarations in packages/carillon. Do not edit. -->",
  "# Command line",
  "",
  "A command is a noun and a verb. Data goes to standard output, messages to standard error. `-o table|json|jsonl|yaml` chooses the form, `--json`",
  "is `-o json`; data has the same shape as in the API. Colours and progress bars are for terminals only; `NO_COLOR` turns the",
  "colours off. A flag has precedence over a variable `CARILLON_…`, a variable over the profile or the settings file.",
  "",
  "| exit code | meaning |",
  "|---|---|",
  ...Object.entries(ExitCode).map(([name, code]) => `| ${code} | ${exitCodeWords[name]} |`),
  "",
];
for (const [group, entries] of groups) {
  lines.push(group === "" ? "## Commands without a noun" : `## ${group}`, "");
  if (group !== "") lines.push(`${nouns[group][0].toUpperCase()}${nouns[group].slice(1)}.`, "");
  for (const entry of entries) lines.push(...(await commandSection(entry)));
}
publish(import.meta.url, "docs/reference/cli.md", lines.join("\n"));
