// The floor of a drain: the product's own statement that completes, archives and claims, 500 runs a call over two
// connections, and nothing else.
import { say } from "../schedules/results.mjs";
import { measureStatement } from "../claims/measure.mjs";

export async function measureFloor(site, rows) {
  const { rate } = await measureStatement(site, { rows });
  say(`floor: ${Math.round(rate)} runs/s`);
  return rate;
}
