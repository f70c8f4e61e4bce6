// The floor of this machine, in this run: what the statements alone can do.
import { result } from "../results.mjs";
import { measureFloor } from "../floor.mjs";
import { ServerProcess } from "../server-process.mjs";
import { register } from "../workload.mjs";

/** Answers the floor and its own lines of the report. */
export async function floorCase(site, { count }) {
  return site.withDatabase(async ({ url, reader }) => {
    // A node makes the schema; it must not fire what the floor is to fire.
    const node = await ServerProcess.start({ name: "node-0", url });
    await node.end();
    await register(url, { kind: "spread", count });
    await reader.query("vacuum analyze");
    const floor = await measureFloor(url, reader);
    const name = "floor: statements alone";
    const results = [
      result({ name, metric: "fires, one connection", unit: "fires/s", ours: floor.one, floor: floor.one }),
      result({ name, metric: "fires, two connections", unit: "fires/s", ours: floor.two, floor: floor.two }),
    ];
    return { floor, results };
  });
}
