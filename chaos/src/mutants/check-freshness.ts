import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "../root.js";
import { type Mutant, isStatementFile, mutateModule, mutateStatements, mutatedModules } from "./mutant.js";

const storeFolder = join(root, "packages/store/src");

/** Throws if a text that the mutant replaces is missing in the sources or the build of the product. */
export function checkFreshness(mutant: Mutant, form: "source" | "build"): void {
  const statements = readdirSync(storeFolder, { recursive: true, encoding: "utf8" })
    .map((file) => join(storeFolder, file))
    .filter(isStatementFile)
    .map((file) => readFileSync(file, "utf8"));
  const modules = [...mutatedModules(mutant)];
  for (const module of modules) mutateModule(mutant, module, readFileSync(pathOf(module, form), "utf8"));
  const wanted = new Set(mutant.edits.map((edit) => edit.in).filter((place) => !modules.includes(place)));
  for (const name of wanted) {
    if (!statements.some((text) => text.includes(`-- name: ${name}\n`) || text.includes(`-- part: ${name}\n`)))
      throw new Error(`The mutant ${mutant.name} finds no statement ${name}.`);
  }
  for (const text of statements) mutateStatements(mutant, text);
}

function pathOf(module: string, form: "source" | "build"): string {
  const built = module.replace("/src/", "/dist/").replace(/\.ts$/, ".js");
  return join(root, "packages", form === "source" ? module : built);
}
