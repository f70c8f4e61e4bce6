// Tests the product as a user gets it: packs it, installs it into an empty folder, and performs the same actions with curl, with the command
// line and in code. Prints a table (actions by ways: ok, or the difference). Exit code 1 if an answer is not the expected one or differs
// from the answers of the other ways. Also creates projects with `carillon init` and follows what it prints.
//   npm run acceptance             installs the packages' dependencies from the registry that npm is set to
//   npm run acceptance -- --link   takes the dependencies from this checkout
import { chmodSync, cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { createActions } from "./acceptance/actions.mjs";
import { comparable, difference, missing, tableOf } from "./acceptance/compare.mjs";
import { startDevServer } from "./acceptance/dev-server.mjs";
import { followNewProjects } from "./acceptance/new-project.mjs";
import { cliWay, curlWay } from "./acceptance/ways.mjs";
import { installProject, linkProject, packedAs } from "./pack/empty-project.mjs";
import { runProgram } from "./pack/run-program.mjs";
import { packAll } from "./pack/tarballs.mjs";

/** The comparable answer of one way, or why it failed. */
async function perform(action, way, ids) {
  try {
    return { value: comparable(await action.act(way, ids), way.name) };
  } catch (error) {
    return { failure: error.message };
  }
}

/** A finding for each answer that lacks an expected part or differs from the first answer; null for the others. */
function judge({ expect }, answers) {
  return answers.map(
    ({ value, failure }) => failure ?? missing(value, expect) ?? difference(answers[0].value ?? value, value),
  );
}

const { values } = parseArgs({ options: { link: { type: "boolean", default: false }, json: { type: "string" } } });
const startedAt = performance.now();
const secondsSince = (start) => (performance.now() - start) / 1_000;

/** Performs the rounds one after another, and the actions of a round at the same time, each by all ways at the same time. */
async function performAll(actions, ways) {
  const ids = ways.map(() => ({}));
  const rowOf = async (action) => {
    const start = performance.now();
    const answers = await Promise.all(ways.map((way, index) => perform(action, way, ids[index])));
    return { title: action.title, cells: judge(action, answers), seconds: secondsSince(start) };
  };
  const rows = new Map();
  for (const round of new Set(actions.map((action) => action.round).toSorted())) {
    const actionsOfRound = actions.filter((action) => action.round === round);
    await Promise.all(actionsOfRound.map(async (action) => rows.set(action, await rowOf(action))));
  }
  return actions.map((action) => rows.get(action));
}

const hasCurl = () =>
  runProgram("curl", ["--version"]).then(
    ({ code }) => code === 0,
    () => false,
  );

function report({ names, rows, projects, serverOutput }) {
  const failedProjects = projects.filter(({ failure }) => failure !== null);
  const failed = rows.flatMap(({ cells }) => cells).filter((cell) => cell !== null).length + failedProjects.length;
  console.log(`\n${tableOf(names, rows)}`);
  console.log(
    `\n${rows.length} actions by ${names.length} ways, ${failed} not ok, ${secondsSince(startedAt).toFixed(1)} s`,
  );
  if (failed > 0) console.log(`\nThe last output of the server:\n${serverOutput.slice(-20).join("\n")}`);
  for (const { title, failure } of projects)
    console.log(`${failure === null ? "ok    " : "FAILED"} a new project: ${title}`);
  for (const { failure } of failedProjects) console.log(failure);
  const passed = rows.length * names.length + projects.length - failed;
  const skipped = names.includes("curl") ? 0 : rows.length;
  if (values.json !== undefined) writeFileSync(values.json, JSON.stringify({ passed, failed, skipped }));
  process.exitCode = failed === 0 ? 0 : 1;
}

const folder = realpathSync(mkdtempSync(join(tmpdir(), "carillon-acceptance-")));
chmodSync(folder, 0o755); // Started by root, the embedded PostgreSQL runs as another user.
const dir = join(folder, "project");
mkdirSync(dir);
let server;
try {
  const packed = packedAs(packAll(join(folder, "tarballs")), "carillon");
  await (values.link ? linkProject : installProject)(dir, packed);
  for (const file of ["tasks.mjs", "code-way.mjs"])
    cpSync(new URL(`acceptance/project/${file}`, import.meta.url), join(dir, file));
  console.log(`installed in ${secondsSince(startedAt).toFixed(1)} s`);
  server = await startDevServer(dir, "./tasks.mjs");
  const { codeWay } = await import(pathToFileURL(join(dir, "code-way.mjs")).href);
  const optionalWays = (await hasCurl()) ? [curlWay(server.url)] : [];
  if (optionalWays.length === 0) console.log("curl is not installed: its actions are skipped");
  const ways = [...optionalWays, cliWay(server.url, dir), codeWay(server.url)];
  const signalFiles = join(dir, "signals");
  mkdirSync(signalFiles);
  const rows = await performAll(createActions(signalFiles), ways);
  const projects = await followNewProjects(dir, packed, { link: values.link });
  report({ names: ways.map(({ name }) => name), rows, projects, serverOutput: server.output });
} finally {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
}
