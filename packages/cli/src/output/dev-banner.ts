import type { NodeFacts } from "@carillon/server";
import { painter } from "../table.js";

/** A request that any shell takes as printed. */
const createLine = (url: string): string =>
  `curl -sS ${url}/v1/jobs -H 'content-type: application/json' -d '{"task":"echo","payload":{"hello":"world"}}'`;

const lookLine = (url: string): string => `curl -sS '${url}/v1/runs?page_size=1'`;

/** What `carillon dev` prints when it is ready. */
export function devBanner({ url, dataDir, postgres }: NodeFacts, version: string, colour: boolean): string {
  const paint = painter(colour);
  const port = postgres.port === null ? "" : `, port ${postgres.port}`;
  const adopted = postgres.adopted ? ", found running" : "";
  return [
    "",
    paint("bold", `Carillon ${version} is ready.`),
    "",
    `  URL         ${paint("cyan", url)}`,
    `  API         ${paint("cyan", `${url}/docs`)}`,
    ...(dataDir === null ? [] : [`  Data        ${dataDir}`]),
    `  PostgreSQL  ${postgres.version}${port}${adopted}`,
    "",
    "Create a job, and look at its run:",
    "",
    `  ${createLine(url)}`,
    `  ${lookLine(url)}`,
    "",
    "Stop with Ctrl-C.",
    "",
    "",
  ].join("\n");
}
