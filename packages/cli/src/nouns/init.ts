import { existsSync, writeFileSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { type CommandBody, flagOption } from "../command.js";
import { CliError, ExitCode, usageError } from "../exit-codes.js";
import { makeFolders } from "../make-folders.js";
import { outputForm, renderJson, withOutputForm } from "../output.js";
import { packageVersion } from "../package-version.js";
import { shellWord } from "../undo.js";

export const init: CommandBody = {
  define: (target) =>
    withOutputForm(target.argument("[dir]", "the folder; it is created if it does not exist", ".")).option(
      "--typescript",
      "tasks in TypeScript",
    ),
  notes: `
Writes package.json, tasks.js (or tasks.ts), jobs.yaml and README.md. No file is overwritten: an existing package.json is kept, and
if one of the others exists, nothing is written.`,
  examples: ["carillon init my-jobs", "carillon init --typescript"],
  async run(io, invocation) {
    const dir = resolve(io.cwd, invocation.args[0] ?? ".");
    const name = packageName(basename(dir));
    const language = flagOption(invocation, "typescript") ? "ts" : "js";
    const files = projectFiles({ name, version: packageVersion(), language });
    const there = files.filter((file) => existsSync(join(dir, file.name)));
    const inTheWay = there.filter((file) => file.name !== "package.json");
    if (inTheWay.length > 0) {
      const names = inTheWay.map((file) => file.name).join(", ");
      throw new CliError(ExitCode.conflict, `Nothing was written: ${dir} has ${names} already. Choose another folder.`);
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
    if (kept) io.info("carillon: package.json exists and is kept as it is");
    io.info(`carillon: created in ${dir}; undo with: ${cd}rm ${names.join(" ")}`);
    io.info(`\nNext, and then in another terminal:\n\n  ${cd}${start}\n  ${cd}${apply}\n`);
  },
};

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

interface ProjectChoice {
  readonly name: string;
  readonly version: string;
  readonly language: "js" | "ts";
}

/** A project that runs: tasks, a job that uses one, and what starts them. */
function projectFiles({ name, version, language }: ProjectChoice): ProjectFile[] {
  const tasks = `tasks.${language}`;
  return [
    { name: "package.json", text: `${JSON.stringify(packageJson({ name, version, language }, tasks), null, 2)}\n` },
    { name: tasks, text: language === "ts" ? typeScriptTasks : javaScriptTasks },
    ...(language === "ts" ? [{ name: "tsconfig.json", text: tsconfig }] : []),
    { name: "jobs.yaml", text: jobs },
    { name: "README.md", text: readme(name, tasks) },
  ];
}

function packageJson({ name, version, language }: ProjectChoice, tasks: string): object {
  return {
    name,
    version: "0.1.0",
    private: true,
    type: "module",
    scripts: {
      start: `carillon dev ./${tasks}`,
      worker: `carillon worker start ./${tasks}`,
      apply: "carillon job apply -f jobs.yaml",
      ...(language === "ts" && { check: "tsc --noEmit" }),
    },
    dependencies: { carillon: `^${version}` },
    // Nodes before 22.18 read TypeScript with the help of tsx.
    ...(language === "ts" && { devDependencies: { tsx: "^4.0.0", typescript: "^5.9.0" } }),
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
  "include": ["*.ts"]
}
`;

const jobs = `# Applied by \`npm run apply\`, as often as you like: unchanged jobs stay as they are.
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

function readme(name: string, tasks: string): string {
  return `# ${name}

- \`${tasks}\`: the tasks, which are what workers run
- \`jobs.yaml\`: the jobs, which say what runs when

\`\`\`sh
npm install
npm start        # everything in one process, with a database of its own in .carillon/; reads ${tasks} again when it changes
npm run apply    # in another terminal: makes the jobs of jobs.yaml
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
