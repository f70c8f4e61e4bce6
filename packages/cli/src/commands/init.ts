import { existsSync, writeFileSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { type CommandModule, flagOption } from "../command.js";
import { CliError, ExitCode } from "../exit-codes.js";
import { projectFiles } from "../init/project.js";
import { makeFolders } from "../make-folders.js";
import { outputForm, renderJson, withOutputForm } from "../output.js";
import { packageVersion } from "../package-version.js";
import { shellWord } from "../undo.js";

export const command: CommandModule = {
  define(target) {
    withOutputForm(target.argument("[dir]", "where; it is made if it is not there", "."))
      .option("--typescript", "tasks in TypeScript")
      .addHelpText(
        "after",
        `
Writes package.json, tasks.js (or tasks.ts), jobs.yaml and README.md. Nothing is overwritten: a package.json that is there is kept, and
if one of the others is there, nothing is written.

Examples:
  $ carillon init my-jobs
  $ carillon init --typescript`,
      );
  },
  async run(io, invocation) {
    const dir = resolve(io.cwd, invocation.args[0] ?? ".");
    const name = packageName(basename(dir));
    const language = flagOption(invocation, "typescript") ? "ts" : "js";
    const files = projectFiles({ name, version: packageVersion(), language });
    const there = files.filter((file) => existsSync(join(dir, file.name)));
    const inTheWay = there.filter((file) => file.name !== "package.json");
    if (inTheWay.length > 0) {
      const names = inTheWay.map((file) => file.name).join(", ");
      throw new CliError(ExitCode.conflict, `nothing was written: ${dir} has ${names} already; choose another folder`);
    }
    makeProjectFolder(dir);
    const made = files.filter((file) => !there.includes(file));
    for (const file of made) writeFileSync(join(dir, file.name), file.text, { flag: "wx" });
    const form = outputForm(invocation);
    const names = made.map((file) => file.name);
    await io.out(form === "table" ? names.map((one) => `${one}\n`).join("") : renderJson({ dir, files: names }, form));
    const place = relative(io.cwd, dir);
    const cd = place === "" ? "" : `cd ${shellWord(place)} && `;
    const kept = there.length > 0;
    const start = kept ? `npm install carillon && npx carillon dev ./tasks.${language}` : "npm install && npm start";
    const apply = kept ? "npx carillon job apply -f jobs.yaml" : "npm run apply";
    if (kept) io.info("carillon: package.json was there and is kept as it is");
    io.info(`carillon: made in ${dir}; undo with: ${cd}rm ${names.join(" ")}`);
    io.info(`\nNext, and then in another terminal:\n\n  ${cd}${start}\n  ${cd}${apply}\n`);
  },
};

/** A place where there can be no folder is a wrong argument; what else the system refuses is told as it says it. */
function makeProjectFolder(dir: string): void {
  try {
    makeFolders(dir);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code !== "ENOENT" && code !== "EEXIST" && code !== "ENOTDIR") throw error;
    const reason = code === "ENOENT" ? "the system takes no folders there" : "a file is in the way";
    throw new CliError(ExitCode.usage, `${dir} cannot be made: ${reason}; choose another folder`);
  }
}

/** As npm allows it. */
function packageName(folder: string): string {
  const name = folder
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, "-")
    .replace(/^[._-]+/, "")
    .slice(0, 200);
  return name === "" ? "jobs" : name;
}
