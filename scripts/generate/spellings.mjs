// Generates docs/reference/spellings.md from the table of spellings in packages/contract.
import { isProgram, publish } from "./publish.mjs";

/** The page. `contract` is what packages/contract exports, built or as sources. */
export function renderSpellings(contract) {
  const { bodySpellings, bodyHints, querySpellings, queryHints, pathSpellings, addressRewrites, answerSpellings } =
    contract;
  return [
    "<!-- Made by scripts/generate/spellings.mjs from packages/contract/src/spellings/table.ts. Do not edit. -->",
    "# Spellings of other systems",
    "",
    "Clients of other schedulers can keep their names: the server accepts these beside its own. [openapi.json](openapi.json) lists Carillon's",
    "names only. Two names of one field are accepted with the same value; with different values the call is refused, and the error has both",
    "names. An error in a field points to the field as the caller wrote it.",
    "",
    "## Bodies",
    "",
    "Accepted where a job is created, replaced or changed, also in batches, and where a run is created.",
    "",
    ...table(
      ["field", "of", "example", "means"],
      bodySpellings.map((row) => [code(row.theirs), row.of.join(", "), code(JSON.stringify(row.example)), row.ours]),
    ),
    "",
    `Words of \`priority\`: ${Object.entries(contract.priorityWords)
      .map(([word, number]) => `\`${word}\` ${number}`)
      .join(", ")}. \`POST /v1/jobs\` takes \`idempotency_key\` for the header \`Idempotency-Key\`.`,
    "",
    "These fields are refused with a hint, because they have several meanings or none:",
    "",
    ...table(
      ["field", "of", "hint"],
      bodyHints.map(({ theirs, of, hint }) => [code(theirs), of.join(", "), hint]),
    ),
    "",
    "## Parameters of lists",
    "",
    ...table(
      ["parameter", "means"],
      [
        ...querySpellings.map(({ theirs, ours }) => [code(theirs), code(ours)]),
        ...Object.entries(queryHints).map(([theirs, hint]) => [code(theirs), `refused. ${hint}`]),
      ],
    ),
    "",
    "## Addresses",
    "",
    "Each is also served with `/v1` before it. Accepted as well:",
    "",
    ...addressRewrites.map(({ words }) => `- ${words}`),
    "",
    ...table(
      ["address", "means", "answer"],
      pathSpellings.map(({ method, theirs, ours, namesInAnswer, note }) => [
        code(`${method} ${theirs}`),
        code(`${method} ${ours}`),
        [namesInAnswer ? "with the names below" : "", note ?? ""].filter((one) => one !== "").join("; "),
      ]),
    ),
    "",
    "## Answers",
    "",
    "A job has these names besides Carillon's if the request used an address or a field of another system, or `/jobs` without `/v1`.",
    `An answer about a single job also has \`history\`: its latest ${contract.historyLength} runs, newest first, each with its \`log_url\`.`,
    "",
    ...table(
      ["field", "value"],
      answerSpellings.map(({ theirs, ours }) => [code(theirs), ours]),
    ),
    "",
  ].join("\n");
}

const code = (text) => `\`${text}\``;

function table(head, rows) {
  const line = (cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), `|${"---|".repeat(head.length)}`, ...rows.map(line)];
}

if (isProgram(import.meta.url))
  publish(
    import.meta.url,
    "docs/reference/spellings.md",
    renderSpellings(await import("../../packages/contract/dist/index.js")),
  );
