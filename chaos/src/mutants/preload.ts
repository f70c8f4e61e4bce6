/**
 * Loaded before the product with `--import …/preload.js?name`: its reads of statement files come back changed. The product
 * itself has no such switch.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { mutants, mutate } from "./mutants.js";

const name = new URL(import.meta.url).searchParams.get("mutant");
const mutant = mutants.find((one) => one.name === name);
if (mutant === undefined) throw new Error(`there is no mutant ${String(name)}`);

const read = fs.readFileSync;
const readChanged = (...args: Parameters<typeof read>): string | Buffer => {
  const content = read(...args);
  const isStatements = typeof content === "string" && /\/engine\/sql\/[a-z]+\.sql$/.test(String(args[0]));
  return isStatements ? mutate(mutant, content) : content;
};
Object.assign(fs, { readFileSync: readChanged });
syncBuiltinESMExports();
