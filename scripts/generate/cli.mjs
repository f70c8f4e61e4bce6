// Writes docs/reference/cli.md from the declarations of the built command line; with --check, says whether the committed page is current.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const target = fileURLToPath(new URL("../../docs/reference/cli.md", import.meta.url));

/** Help is as wide as the terminal; a page is not. */
process.stdout.isTTY = false;
const built = (name) => import(new URL(`../../packages/cli/dist/${name}.js`, import.meta.url).href);
const [{ allCommands, words }, { runCli }, { exitCodeMeanings, ExitCode }] = await Promise.all(
  ["nouns", "main", "exit-codes"].map(built),
);

/** What a command line prints. */
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
  "shape that the API gives it. Colours and progress bars are for terminals only; `NO_COLOR` turns the colours off. A flag wins over a",
  "variable `CARILLON_…`, a variable over the profile or the settings file.",
  "",
  "| exit code | meaning |",
  "|---|---|",
  ...Object.entries(ExitCode).map(([name, code]) => `| ${code} | ${exitCodeMeanings[name]} |`),
  "",
];
for (const [group, entries] of groups) {
  lines.push(group === "" ? "## Commands of one word" : `## ${group}`, "");
  if (group !== "") lines.push(sentence(words[group].summary), "");
  for (const entry of entries) lines.push(...(await commandSection(entry)));
}
const page = lines.join("\n");

if (process.argv.includes("--check")) {
  if (readFileSync(target, "utf8") !== page) {
    console.error("docs/reference/cli.md is not what the command line says: run node scripts/generate/cli.mjs");
    process.exitCode = 1;
  }
} else {
  writeFileSync(target, page);
  console.log(`wrote ${commands.length} commands to docs/reference/cli.md`);
}
