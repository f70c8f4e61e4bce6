// The product as a user gets it: packs it, installs it into an empty folder, and does what users do by curl, by the command line and in
// code. Prints a table (action by way: ok, or what differs); exit code 1 if an answer is not the expected one, or not that of the other ways.
//   npm run acceptance             installs what the packages depend on from the registry that npm is set to
//   npm run acceptance -- --link   takes it from this checkout
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { actionsOf } from "./acceptance/actions.mjs";
import { cliWay } from "./acceptance/cli-way.mjs";
import { comparable, difference, lacking, tableOf } from "./acceptance/compare.mjs";
import { curlWay } from "./acceptance/curl-way.mjs";
import { startDev } from "./acceptance/dev-server.mjs";
import { installProject, linkProject } from "./pack/empty-project.mjs";
import { runProgram } from "./pack/run-program.mjs";
import { packAll } from "./pack/tarballs.mjs";

/** What one way answered, made comparable; or why it did not. */
async function answerOf(action, way, kept) {
  try {
    return { value: comparable(await action.act(way, kept), way.name) };
  } catch (error) {
    return { failure: error.message };
  }
}

/** What is wrong with each answer: it lacks what is expected, or it is not the first one's. */
function judge({ expect }, answers) {
  return answers.map(
    ({ value, failure }) => failure ?? lacking(value, expect) ?? difference(answers[0].value ?? value, value),
  );
}

const { values } = parseArgs({ options: { link: { type: "boolean", default: false }, json: { type: "string" } } });
const begun = performance.now();
const seconds = (since) => (performance.now() - since) / 1_000;

/** Those of a round at the same time, and each by all ways at the same time; a row for each. */
async function perform(actions, ways) {
  const kept = ways.map(() => ({}));
  const rowOf = async (action) => {
    const since = performance.now();
    const answers = await Promise.all(ways.map((way, index) => answerOf(action, way, kept[index])));
    return { title: action.title, cells: judge(action, answers), seconds: seconds(since) };
  };
  const rows = new Map();
  for (const round of new Set(actions.map((action) => action.round).toSorted())) {
    const together = actions.filter((action) => action.round === round);
    await Promise.all(together.map(async (action) => rows.set(action, await rowOf(action))));
  }
  return actions.map((action) => rows.get(action));
}

const hasCurl = () =>
  runProgram("curl", ["--version"]).then(
    ({ code }) => code === 0,
    () => false,
  );

function report(names, rows, said) {
  const wrong = rows.flatMap(({ cells }) => cells).filter((cell) => cell !== null).length;
  console.log(`\n${tableOf(names, rows)}`);
  console.log(`\n${rows.length} actions by ${names.length} ways, ${wrong} not ok, ${seconds(begun).toFixed(1)} s`);
  if (wrong > 0) console.log(`\nthe server said:\n${said.slice(-20).join("\n")}`);
  const passed = rows.length * names.length - wrong;
  const skipped = names.includes("curl") ? 0 : rows.length;
  if (values.json !== undefined) writeFileSync(values.json, JSON.stringify({ passed, failed: wrong, skipped }));
  process.exitCode = wrong === 0 ? 0 : 1;
}

const dir = mkdtempSync(join(tmpdir(), "carillon-acceptance-"));
chmodSync(dir, 0o755); // The database of root runs as somebody else.
let server;
try {
  const packed = packAll(join(dir, "tarballs"));
  await (values.link ? linkProject : installProject)(dir, packed, "carillon");
  for (const file of ["tasks.mjs", "code-way.mjs"])
    cpSync(new URL(`acceptance/project/${file}`, import.meta.url), join(dir, file));
  console.log(`installed in ${seconds(begun).toFixed(1)} s`);
  server = await startDev(dir);
  const { codeWay } = await import(pathToFileURL(join(dir, "code-way.mjs")).href);
  const byCurl = (await hasCurl()) ? [curlWay(server.url)] : [];
  if (byCurl.length === 0) console.log("there is no curl here: that way is skipped");
  const ways = [...byCurl, cliWay(server.url, dir), codeWay(server.url)];
  const marks = join(dir, "marks");
  mkdirSync(marks);
  const rows = await perform(actionsOf(marks), ways);
  report(
    ways.map(({ name }) => name),
    rows,
    server.said,
  );
} finally {
  await server?.stop();
  rmSync(dir, { recursive: true, force: true });
}
