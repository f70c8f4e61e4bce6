// Preloaded into a node (`node --import`): records which functions of packages/*/dist are entered. It answers each message from the parent
// process with the functions entered since the previous message: { "packages/engine/src/a.ts": ["name@offset", …] }.
import { Session } from "node:inspector/promises";

const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });

const builtFile = /\/packages\/([^/]+)\/dist\/(.+)\.js$/;

async function answer() {
  const { result } = await session.post("Profiler.takePreciseCoverage");
  const entered = {};
  for (const { url, functions } of result) {
    const [, name, path] = builtFile.exec(url) ?? [];
    if (name === undefined) continue;
    // The function at offset 0 is the module body. It runs when the module is loaded, which does not count as entering the file.
    const called = functions.filter(({ ranges: [range] }) => range.count > 0 && range.startOffset > 0);
    const functionIds = called.map(({ functionName, ranges: [range] }) => `${functionName}@${range.startOffset}`);
    if (functionIds.length > 0) entered[`packages/${name}/src/${path}.ts`] = functionIds;
  }
  process.send(entered);
}
process.on("message", () => void answer());
process.channel.unref();
