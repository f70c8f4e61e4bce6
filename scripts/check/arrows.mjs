// Holds the import arrows between packages and forbids cycles between files. Prints each violation; exit code 1 if any.
import { fileURLToPath } from "node:url";
import { cyclesOf, importGraph } from "./import-graph.mjs";

/** Which workspace packages a package's sources may import. */
export const arrows = {
  core: [],
  condition: ["core"],
  contract: ["core", "condition"],
  client: ["core", "contract"],
  "embedded-postgres": [],
  engine: ["core", "condition"],
  worker: ["core", "client"],
  executors: ["core", "condition", "worker"],
  "executor-docker": ["core", "worker"],
  "executor-kubernetes": ["core", "worker"],
  "executor-lambda": ["core", "worker"],
  "executor-airflow": ["core", "worker"],
  server: ["core", "contract", "engine", "worker", "executors", "embedded-postgres"],
  carillon: ["core", "contract", "client", "engine", "worker", "executors", "server"],
  testkit: ["core", "engine", "embedded-postgres"],
};

/** Outside packages that only some folders may import: a technology stays behind its port. */
const homes = [
  { module: /^pg($|\/)/, only: /^packages\/(engine\/src\/store\/|testkit\/src\/)/ },
  { module: /^fastify$|^@fastify\//, only: /^packages\/server\/src\/api\// },
  { module: /^@carillon\/embedded-postgres$/, only: /^packages\/(server\/src\/services\/|testkit\/src\/)/ },
  { module: /^@carillon\/worker$/, only: /^packages\/(server\/src\/(services|events)\/|carillon\/src\/|executor)/ },
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

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const graph = importGraph(fileURLToPath(new URL("../..", import.meta.url)));
  const found = violationsOf(graph);
  for (const violation of found) console.error(violation);
  console.log(`arrows: ${graph.size} files, ${found.length} violations`);
  process.exitCode = found.length === 0 ? 0 : 1;
}
