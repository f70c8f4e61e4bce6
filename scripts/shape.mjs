// Measures how hard the code is to read: files on the path of a run, knots, importers, large interfaces. Prints each value with its target.
//   npm run shape                        the table; takes about a minute, most of it for the traced journey
//   npm run shape -- --skip-journey      the table without the traced journey
//   npm run shape -- --files             lists the files of the journey, too
//   npm run shape -- --list importers    lists what a measure counts; the names of the measures are in the table
//   npm run shape -- --json
//   npm run shape -- --check             exit code 1 if a target is missed
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { folderOrders, knotsOf } from "./check/arrows.mjs";
import { importGraph } from "./check/import-graph.mjs";
import { violationsIn } from "./check/words.mjs";
import { traceJourney } from "./shape/journey.mjs";
import { publicMethods } from "./shape/public-methods.mjs";
import * as sources from "./shape/sources.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * `value` must be at most `target`; `places` is what `--list` prints.
 * @typedef {{ name: string, what: string, value: number, target: number, places: readonly string[] }} Measure
 */

/** @returns {Measure[]} */
function measuresOfSources() {
  const texts = sources.sourceTexts(root);
  const graph = importGraph(root);
  const [knot = []] = knotsOf(graph, "engine", folderOrders.engine.order);
  const methods = publicMethods(root, texts);
  const line = ({ methods: count, name, file }) => `${String(count).padStart(4)}  ${name} (${file})`;
  const most = (isPort) => methods.filter((counted) => counted.isPort === isPort).slice(0, 5);
  const [worstClass, worstPort] = [most(false), most(true)];
  const words = violationsIn();
  const counted = (name, what, places, target) => ({ name, what, value: places.length, target, places });
  return [
    counted("knot", "largest strongly connected set of engine folders, types included", knot, 1),
    counted("files", "source files, dashboard not counted", [...texts.keys()], 950),
    { name: "lines", what: "source lines", value: sources.lineCount(texts), target: 78_000, places: [] },
    counted("importers", "files with exactly one importer", sources.filesWithOneImporter(graph), 299),
    {
      name: "class",
      what: `public methods of one class or interface: ${worstClass[0].name}`,
      value: worstClass[0].methods,
      target: 25,
      places: worstClass.map(line),
    },
    {
      name: "port",
      what: `methods of one port: ${worstPort[0].name}`,
      value: worstPort[0].methods,
      target: 12,
      places: worstPort.map(line),
    },
    counted(
      "sql",
      "statements with 10 or more positional parameters",
      sources.longStatements(sources.sqlTexts(root)),
      0,
    ),
    counted("roots", "composition roots of the engine", sources.compositionRoots(texts), 1),
    counted(
      "words",
      "banned words",
      words.map(({ file, line: at, word }) => `${file}:${at}: ${word}`),
      0,
    ),
  ];
}

/** @returns {Promise<Measure>} */
async function measureOfJourney() {
  const built = spawnSync(process.execPath, ["scripts/build.mjs"], { cwd: root, stdio: ["ignore", 2, 2] });
  if (built.status !== 0) throw new Error("the build failed");
  const { files } = await traceJourney();
  const what = "files on the journey create → fire → claim → handler → complete → GET, traced";
  return { name: "journey", what, value: files.length, target: 65, places: files };
}

/** A line for each measure. */
export function tableOf(measures) {
  const rows = measures.map((measure) => [
    measure.name,
    measure.what,
    measure.value.toLocaleString("en"),
    measure.target.toLocaleString("en"),
    isMet(measure) ? "met" : "MISSED",
  ]);
  const all = [["name", "measure", "now", "at most", ""], ...rows];
  const widths = all[0].map((_, column) => Math.max(...all.map((row) => row[column].length)));
  const isNumber = (column) => column === 2 || column === 3;
  return all
    .map((row) => row.map((cell, column) => cell[isNumber(column) ? "padStart" : "padEnd"](widths[column])).join("  "))
    .map((line) => line.trimEnd())
    .join("\n");
}

const isMet = ({ value, target }) => value <= target;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const flag = { type: "boolean", default: false };
  const { values } = parseArgs({
    options: {
      check: flag,
      json: flag,
      files: flag,
      "skip-journey": flag,
      list: { type: "string", multiple: true, default: [] },
    },
  });
  const measures = [...(values["skip-journey"] ? [] : [await measureOfJourney()]), ...measuresOfSources()];
  const listed = new Set(["class", "port", ...(values.files ? ["journey"] : [])].concat(values.list));
  const unknown = values.list.filter((name) => !measures.some((measure) => measure.name === name));
  if (unknown.length > 0) throw new Error(`there is no measure ${unknown.join(", ")}`);
  if (values.json) {
    const shown = measures.map(({ places, ...measure }) => ({
      ...measure,
      met: isMet(measure),
      ...(listed.has(measure.name) && { places }),
    }));
    console.log(JSON.stringify(shown, null, 2));
  } else {
    console.log(tableOf(measures));
    for (const { name, places } of measures.filter((measure) => listed.has(measure.name)))
      console.log(`\n${name}:\n${places.join("\n")}`);
  }
  if (values.check && !measures.every(isMet)) process.exitCode = 1;
}
