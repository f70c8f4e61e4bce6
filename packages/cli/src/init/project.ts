/** A file of a new project. */
export interface ProjectFile {
  readonly name: string;
  readonly text: string;
}

export interface ProjectChoice {
  readonly name: string;
  readonly version: string;
  readonly language: "js" | "ts";
}

/** A project that runs: tasks, a job that uses one, and what starts them. */
export function projectFiles({ name, version, language }: ProjectChoice): ProjectFile[] {
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

// A task is what a worker runs. Whatever it returns is kept as the output of the run; whatever it throws is tried again.
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

const jobs = `# Applied by \`npm run apply\`, as often as you like: a job that is as it says here is left alone.
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

Then look at it:

\`\`\`sh
npx carillon task run greet --payload '{"name":"you"}' --wait
npx carillon job get @greet-every-minute
npx carillon run list
npx carillon top
\`\`\`
`;
}
