import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { type CommandBody, flagOption } from "../command.js";
import { CliError, ExitCode, usageError } from "../exit-codes.js";
import { installedFrom } from "../installed-from.js";
import { makeFolders } from "../make-folders.js";
import { outputForm, renderJson, withOutputForm } from "../output.js";
import { shellWord } from "../undo.js";

export const init: CommandBody = {
  define: (target) =>
    withOutputForm(target.argument("[dir]", "the folder; it is created if it does not exist", ".")).option(
      "--typescript",
      "tasks in TypeScript",
    ),
  notes: `
Writes package.json, tasks.js (or tasks.ts), jobs.yaml and README.md. No file is overwritten: an existing package.json is kept, and
if one of the others exists, nothing is written. package.json depends on the Carillon that runs: on its version if npm has it from a
registry, else on the tarball or the folder that it is from.`,
  examples: ["carillon init my-jobs", "carillon init --typescript"],
  async run(io, invocation) {
    const dir = resolve(io.cwd, invocation.args[0] ?? ".");
    const kept = manifestOf(dir);
    const names = fileNames(flagOption(invocation, "typescript") ? "ts" : "js", kept);
    const inTheWay = names.filter((name) => name !== "package.json" && existsSync(join(dir, name)));
    if (inTheWay.length > 0) {
      const list = inTheWay.join(", ");
      throw new CliError(ExitCode.conflict, `Nothing was written: ${dir} has ${list} already. Choose another folder.`);
    }
    makeProjectFolder(dir);
    const source = installedFrom(dir, { userAgent: io.env["npm_config_user_agent"] ?? "" });
    const project = {
      name: packageName(basename(dir)),
      dependency: source.dependency,
      names,
      hasScripts: kept === null,
    };
    const made = projectFiles(project).filter((file) => kept === null || file.name !== "package.json");
    for (const file of made) writeFileSync(join(dir, file.name), file.text, { flag: "wx" });
    const form = outputForm(invocation);
    const written = made.map((file) => file.name);
    await io.out(
      form === "table" ? written.map((one) => `${one}\n`).join("") : renderJson({ dir, files: written }, form),
    );
    const place = relative(io.cwd, dir);
    const cd = place === "" ? "" : `cd ${shellWord(place)} && `;
    if (kept !== null) io.info("carillon: package.json exists and is kept as it is");
    else if (source.note !== null) io.info(`carillon: ${source.note}`);
    io.info(`carillon: created in ${dir}; undo with: ${cd}rm ${written.join(" ")}`);
    const { install, start, apply } = commandsOf(project, kept);
    io.info(`\nNext, and then in another terminal:\n\n  ${cd}${install} && ${start}\n  ${cd}${apply}\n`);
  },
};

/** The manifest that the folder has already; null: none. */
function manifestOf(dir: string): Manifest | null {
  try {
    return JSON.parse(readFileSync(join(dir, "package.json"), "utf8")) as Manifest;
  } catch (error) {
    if (error instanceof SyntaxError)
      throw new CliError(ExitCode.conflict, `Nothing was written: ${join(dir, "package.json")} is no JSON.`);
    return null;
  }
}

interface Manifest {
  readonly type?: unknown;
  readonly dependencies?: object;
  readonly devDependencies?: object;
}

/** The tasks are an ES module; in a folder whose modules are CommonJS, the name of the file says so. */
function fileNames(language: "js" | "ts", kept: Manifest | null): string[] {
  const isModule = kept === null || kept.type === "module";
  const config = language === "ts" ? ["tsconfig.json"] : [];
  return ["package.json", `tasks.${isModule ? "" : "m"}${language}`, ...config, "jobs.yaml", "README.md"];
}

/** What to type next. */
function commandsOf({ dependency, names, hasScripts }: Project, kept: Manifest | null) {
  const isThere = "carillon" in { ...kept?.dependencies, ...kept?.devDependencies };
  const wanted = /^[\^~\d]/.test(dependency) ? "carillon" : shellWord(dependency);
  return {
    install: hasScripts || isThere ? "npm install" : `npm install ${wanted}`,
    start: hasScripts ? "npm start" : `npx carillon dev ./${tasksIn(names)}`,
    apply: hasScripts ? "npm run apply" : "npx carillon job apply -f jobs.yaml",
  };
}

const tasksIn = (names: readonly string[]): string => names.find((name) => name.startsWith("tasks.")) ?? "";

/** A path where no folder can be made is a wrong argument; other errors of the system are passed on. */
function makeProjectFolder(dir: string): void {
  try {
    makeFolders(dir);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code !== "ENOENT" && code !== "EEXIST" && code !== "ENOTDIR") throw error;
    const reason = code === "ENOENT" ? "the system does not allow folders there" : "a file is in the way";
    throw usageError(`${dir} cannot be created: ${reason}. Choose another folder.`);
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

/** A file of a new project. */
interface ProjectFile {
  readonly name: string;
  readonly text: string;
}

interface Project {
  readonly name: string;
  /** How package.json names Carillon. */
  readonly dependency: string;
  /** Of the files to write. */
  readonly names: readonly string[];
  /** Whether package.json is ours, with its scripts. */
  readonly hasScripts: boolean;
}

/** A project that runs: tasks, a job that uses one, and what starts them. */
function projectFiles(project: Project): ProjectFile[] {
  const tasks = tasksIn(project.names);
  const texts: Readonly<Record<string, string>> = {
    "package.json": `${JSON.stringify(packageJson(project, tasks), null, 2)}\n`,
    [tasks]: tasks.endsWith("ts") ? typeScriptTasks : javaScriptTasks,
    "tsconfig.json": tsconfig,
    "jobs.yaml": jobs(project.hasScripts ? "npm run apply" : "npx carillon job apply -f jobs.yaml"),
    "README.md": readme(project, tasks),
  };
  return project.names.map((name) => ({ name, text: texts[name] ?? "" }));
}

function packageJson({ name, dependency }: Project, tasks: string): object {
  const isTypeScript = tasks.endsWith("ts");
  return {
    name,
    version: "0.1.0",
    private: true,
    type: "module",
    scripts: {
      start: `carillon dev ./${tasks}`,
      worker: `carillon worker start ./${tasks}`,
      apply: "carillon job apply -f jobs.yaml",
      ...(isTypeScript && { check: "tsc --noEmit" }),
    },
    dependencies: { carillon: dependency },
    // Nodes before 22.18 read TypeScript with the help of tsx.
    ...(isTypeScript && { devDependencies: { tsx: "^4.0.0", typescript: "^5.9.0" } }),
    engines: { node: ">=20.19" },
  };
}

const tasksHead = `import { task } from "carillon";

// A worker runs tasks. Its return value is stored as the output of the run; if it throws, the run is retried.
`;

const javaScriptTasks = `${tasksHead}export const greet = task({
  name: "greet",
  run: async ({ name = "world" }, ctx) => {
    ctx.log.info("greeting", { name });
    return \`hello \${name}\`;
  },
});
`;

const typeScriptTasks = `${tasksHead}export const greet = task({
  name: "greet",
  run: async ({ name = "world" }: { name?: string }, ctx) => {
    ctx.log.info("greeting", { name });
    return \`hello \${name}\`;
  },
});
`;

const tsconfig = `{
  "compilerOptions": {
    "target": "es2023",
    "module": "nodenext",
    "strict": true,
    "skipLibCheck": true,
    "noEmit": true,
    "erasableSyntaxOnly": true
  },
  "include": ["*.ts", "*.mts"]
}
`;

const jobs = (
  apply: string,
): string => `# Applied by \`${apply}\`, as often as you like: unchanged jobs stay as they are.
key: greet-every-minute
task: greet
schedule:
  cron: "* * * * *"
  time_zone: UTC
payload:
  name: Carillon
retry:
  max_attempts: 3
`;

function readme({ name, hasScripts }: Project, tasks: string): string {
  const [start, apply] = hasScripts
    ? ["npm start", "npm run apply"]
    : [`npx carillon dev ./${tasks}`, "npx carillon job apply -f jobs.yaml"];
  return `# ${name}

- \`${tasks}\`: the tasks, which are what workers run
- \`jobs.yaml\`: the jobs, which say what runs when

\`\`\`sh
npm install
${start}   # everything in one process, with a database of its own in .carillon/; reads ${tasks} again when it changes
${apply}   # in another terminal: makes the jobs of jobs.yaml
\`\`\`

Then use it:

\`\`\`sh
npx carillon task run greet --payload '{"name":"you"}' --wait
npx carillon job get @greet-every-minute
npx carillon run list
npx carillon top
\`\`\`
`;
}
