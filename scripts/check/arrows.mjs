// Checks the imports of the packages' sources: which package may import which, which folder of a package may import which, no cycles between
// files. Type imports count. Prints each violation; exit code 1 if any.
import { fileURLToPath } from "node:url";
import { cyclesOf, importGraph } from "./import-graph.mjs";

/** Which workspace packages a package's sources may import. */
export const arrows = {
  core: [],
  condition: ["core"],
  contract: ["core", "condition"],
  client: ["core", "contract"],
  "embedded-postgres": [],
  store: ["core"],
  engine: ["core", "condition", "store"],
  worker: ["core", "client"],
  executors: ["core", "condition", "worker"],
  server: ["core", "contract", "engine", "worker", "executors", "embedded-postgres"],
  cli: ["core", "contract", "client", "engine", "worker", "executors", "server"],
  carillon: ["core", "contract", "client", "engine", "worker", "server"],
  testkit: ["core", "store", "engine", "embedded-postgres"],
};

/**
 * The folders and files of a package's src in order: each may import only those above it in this list. index.ts, the package's exports, may
 * import all of them. An entry may also be a folder inside a folder ("runs/read"); a file belongs to the longest entry that its path begins
 * with.
 *
 * `knot` is the size of the largest set of entries that all import each other, directly or through others. While it is above 1, imports
 * against the order are tolerated, and the number can only go down: the check fails when the knot grows, and when it shrinks without this
 * number being lowered. At 1 every import must follow the order.
 */
export const folderOrders = {
  engine: {
    knot: 1,
    order: [
      "requests.ts",
      "events.ts",
      "loops",
      "wakeups",
      "options.ts",
      "after-commit.ts",
      "context.ts",
      "cluster",
      "catalog",
      "schedules",
      "runs",
      "limits",
      "breakers",
      "enqueue",
      "jobs/transaction",
      "dependencies",
      "calendars",
      "jobs",
      "scheduler",
      "dispatch",
      "backfills",
      "webhooks",
      "dead-letters",
      "operations",
      "explain",
      "forecast",
      "engine.ts",
    ],
  },
  server: { knot: 1, order: ["timeout.ts", "config", "events", "api", "metrics", "services"] },
};

/** External packages that only some folders may import: a technology stays behind its port. */
const homes = [
  { module: /^pg($|\/)/, only: /^packages\/(store\/src\/|testkit\/src\/)/ },
  { module: /^fastify$|^@fastify\//, only: /^packages\/server\/src\/api\// },
  { module: /^@carillon\/embedded-postgres$/, only: /^packages\/(server\/src\/services\/|testkit\/src\/)/ },
  {
    module: /^@carillon\/worker$/,
    only: /^packages\/(server\/src\/(services|events)\/|carillon\/src\/|cli\/src\/|executors\/)/,
  },
  { module: /^node:/, only: /^packages\/(?!core\/|contract\/|client\/)/ },
];

const nameOf = (specifier) => (specifier === "carillon" ? "carillon" : specifier.match(/^@carillon\/([^/]+)/)?.[1]);

export function violationsOf(graph) {
  const found = [];
  for (const [file, edges] of graph) {
    const from = file.split("/")[1];
    for (const { specifier, target } of edges) {
      const to = nameOf(specifier);
      if (to !== undefined && !arrows[from]?.includes(to)) found.push(`${file}: ${from} must not import ${specifier}`);
      if (/^(@carillon\/[^/]+|carillon)\//.test(specifier)) found.push(`${file}: deep import of ${specifier}`);
      if (target !== null && target.split("/")[1] !== from)
        found.push(`${file}: ${specifier} reaches into another package`);
      for (const { module, only } of homes) {
        if (module.test(specifier) && !only.test(file))
          found.push(`${file}: ${specifier} may be imported only in ${only.source}`);
      }
    }
  }
  for (const cycle of cyclesOf(graph)) found.push(`import cycle: ${cycle.join(" → ")}`);
  return found;
}

/** The imports between the entries of a package's list: entry → [{ target: entry, file, imported }]. */
function folderGraph(graph, packageName, order) {
  const source = `packages/${packageName}/src/`;
  const entryOf = (file) => {
    const path = file.slice(source.length);
    const entries = order.filter((entry) => path === entry || path.startsWith(`${entry}/`));
    return entries.toSorted((a, b) => b.length - a.length)[0] ?? path.split("/")[0];
  };
  const folders = new Map();
  for (const [file, edges] of graph) {
    if (!file.startsWith(source) || file === `${source}index.ts`) continue;
    const entry = entryOf(file);
    const inside = edges.filter(({ target }) => target?.startsWith(source) && graph.has(target));
    const imports = inside.map(({ target }) => ({ target: entryOf(target), file, imported: target }));
    folders.set(entry, [...(folders.get(entry) ?? []), ...imports.filter(({ target }) => target !== entry)]);
  }
  return folders;
}

/** The sets of entries that all import each other, the largest first. */
export function knotsOf(graph, packageName, order) {
  return cyclesOf(folderGraph(graph, packageName, order)).toSorted((a, b) => b.length - a.length);
}

/**
 * @param {ReturnType<typeof importGraph>} graph
 * @param {string} packageName
 * @param {{ order: readonly string[], knot: number }} expected
 * @returns {{ knot: number, against: number, found: string[] }} `against` counts the imports against the order
 */
export function orderFindings(graph, packageName, { order, knot: recorded }) {
  const folders = folderGraph(graph, packageName, order);
  const knot = knotsOf(graph, packageName, order)[0]?.length ?? 1;
  const place = new Map(order.map((entry, index) => [entry, index]));
  const unlisted = [...folders.keys()].filter((entry) => !place.has(entry));
  const absent = order.filter((entry) => !folders.has(entry));
  const against = [...folders].flatMap(([entry, imports]) =>
    imports
      .filter(({ target }) => place.get(target) > place.get(entry))
      .map(
        ({ target, file, imported }) => `${file}: ${entry} must not import ${target}, which is below it (${imported})`,
      ),
  );
  const list = `scripts/check/arrows.mjs: the list for ${packageName}`;
  const found = [
    ...unlisted.map((entry) => `${list} lacks ${entry}`),
    ...absent.map((entry) => `${list} names ${entry}, which does not exist`),
    ...(knot > recorded ? [`${packageName}: the largest knot grew from ${recorded} folders to ${knot}`] : []),
    ...(knot < recorded ? [`${list} must say knot: ${knot}, it shrank from ${recorded}`] : []),
    ...(knot === 1 ? against : []),
  ];
  return { knot, against: against.length, found };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const graph = importGraph(fileURLToPath(new URL("../..", import.meta.url)));
  const found = violationsOf(graph);
  for (const [packageName, expected] of Object.entries(folderOrders)) {
    const order = orderFindings(graph, packageName, expected);
    found.push(...order.found);
    console.log(`arrows: ${packageName}: largest knot ${order.knot}, imports against the order ${order.against}`);
  }
  for (const violation of found) console.error(violation);
  console.log(`arrows: ${graph.size} files, ${found.length} violations`);
  process.exitCode = found.length === 0 ? 0 : 1;
}
