/**
 * Loaded before the product with `--import …/preload.js?mutant=NAME`: changes the statement files and modules that the product
 * reads. The product itself has no such switch.
 */
import fs from "node:fs";
import { register, syncBuiltinESMExports } from "node:module";
import { isStatementFile, mutateStatements } from "./mutant.js";
import { mutantNamed } from "./mutants.js";

const mutant = mutantNamed(new URL(import.meta.url).searchParams.get("mutant") ?? "");

const read = fs.readFileSync;
const readChanged = (...args: Parameters<typeof read>): string | Buffer => {
  const content = read(...args);
  return typeof content === "string" && isStatementFile(String(args[0])) ? mutateStatements(mutant, content) : content;
};
Object.assign(fs, { readFileSync: readChanged });
syncBuiltinESMExports();
register("./module-hooks.js", import.meta.url, { data: mutant.name });
