import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const root = fileURLToPath(new URL(".", import.meta.url));

/** Tests load the sources of every workspace package, never a stale build. Only tests that spawn processes use the build. */
const packages = readdirSync(`${root}packages`).filter((dir) => existsSync(`${root}packages/${dir}/package.json`));
const sources = packages.flatMap((dir) => {
  const manifest = JSON.parse(readFileSync(`${root}packages/${dir}/package.json`, "utf8")) as {
    name: string;
    exports: Readonly<Record<string, string | { readonly default: string }>>;
  };
  return Object.entries(manifest.exports).flatMap(([path, target]) => {
    if (typeof target === "string") return [];
    const source = target.default.replace("./dist/", "src/").replace(/\.js$/, ".ts");
    return { find: new RegExp(`^${manifest.name}${path.slice(1)}$`), replacement: `${root}packages/${dir}/${source}` };
  });
});
const tools = ["express"].map((name) => ({
  find: new RegExp(`^${name}$`),
  replacement: `${root}tools/node_modules/${name}`,
}));

/**
 * Test files of a worker process share its modules: our modules have no state that a test could observe, and loading them for each file
 * took a third of the time.
 */
const shared = { isolate: false, maxWorkers: 2 };

/** The slowest files start first, so that none of them runs alone at the end. Vitest orders the others by their size. */
const slowestFiles = [
  "simulation/simulated-year",
  "coordinator/etcd-coordinator",
  "carillon/test/cluster/kills",
  "carillon/test/cluster/documents",
  "workers/lost-workers",
  "nodes/clocks",
];

class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isSlow = ({ moduleId }: TestSpecification) =>
      slowestFiles.some((name) => moduleId.endsWith(`${name}.test.ts`));
    const sorted = await super.sort(files);
    return [...sorted.filter(isSlow), ...sorted.filter((file) => !isSlow(file))];
  }
}

/** A tier is a folder name: packages/<name>/test/<tier>/…; its tests share the setup and limits of the tier. */
const tier = (name: string, extra: object) => ({
  extends: true as const,
  test: { name, include: [`{packages/*,scripts,chaos}/test/${name}/**/*.test.ts`], ...extra },
});

export default defineConfig({
  resolve: { alias: [...sources, ...tools] },
  test: {
    sequence: { sequencer: SlowestFirst },
    projects: [
      tier("unit", {
        ...shared,
        testTimeout: 60_000,
        sequence: { groupOrder: 0 },
        setupFiles: [`${root}scripts/property-seed.ts`],
      }),
      tier("store", {
        ...shared,
        testTimeout: 60_000,
        hookTimeout: 60_000,
        sequence: { groupOrder: 1 },
        globalSetup: [`${root}packages/testkit/src/vitest-setup.ts`],
      }),
      tier("cluster", {
        testTimeout: 120_000,
        hookTimeout: 120_000,
        // These tests mostly wait for leases and heartbeats, so one worker more than there are cores.
        maxWorkers: 3,
        sequence: { groupOrder: 2 },
        globalSetup: [`${root}packages/testkit/src/vitest-setup.ts`],
      }),
    ],
  },
});
