// What a user does first: `carillon init`, `npm install`, `carillon dev`, and the commands that init prints, in an empty folder beside the one
// in which the tarball is installed. In JavaScript and in TypeScript, whose types the compiler checks.
import { mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { linkInstalled } from "../pack/empty-project.mjs";
import { runProgram } from "../pack/run-program.mjs";
import { startDevServer } from "./dev-server.mjs";

const tsc = fileURLToPath(new URL("../../node_modules/.bin/tsc", import.meta.url));
const resolutions = [
  ["--module", "nodenext"],
  ["--module", "node16"],
  ["--module", "esnext", "--moduleResolution", "bundler"],
];

/** Throws with the output of a program that fails. */
async function run(dir, program, args, env = {}) {
  const done = await runProgram(program, args, { cwd: dir, env: { PATH: process.env.PATH, ...env } });
  if (done.code !== 0)
    throw new Error(`${program} ${args.join(" ")} ended with ${done.code}:\n${done.stdout}\n${done.stderr}`);
  return done;
}

/**
 * @param {string} dir in which the tarball is installed
 * @param {import("../pack/tarballs.mjs").Packed} packed
 * @param {{ link: boolean, language: "js" | "ts" }} options link: without the registry
 */
async function followInit(dir, packed, { link, language }) {
  const project = join(dir, "..", `new-${language}`);
  mkdirSync(project);
  const flags = language === "ts" ? ["--typescript"] : [];
  const { stderr } = await run(project, join(dir, "node_modules/.bin/carillon"), ["init", ...flags]);
  const manifest = JSON.parse(readFileSync(join(project, "package.json"), "utf8"));
  const dependency = manifest.dependencies.carillon;
  if (resolve(project, dependency.replace(/^file:/, "")) !== packed.path)
    throw new Error(`package.json depends on ${dependency}, not on ${packed.path}`);
  if (!stderr.includes(packed.path)) throw new Error(`init did not name the tarball:\n${stderr}`);
  if (link) await linkInstalled(project, packed);
  else
    await run(project, "npm", ["install", "--no-audit", "--no-fund", "--prefer-offline"], { HOME: process.env.HOME });
  if (language === "ts") {
    const common = [
      "--ignoreConfig",
      "--noEmit",
      "--strict",
      "--skipLibCheck",
      "--target",
      "es2023",
      "--types",
      "node",
    ];
    for (const resolution of resolutions) await run(project, tsc, [...common, ...resolution, "tasks.ts"]);
    return;
  }
  const server = await startDevServer(project, "./tasks.js");
  try {
    const carillon = join(project, "node_modules/.bin/carillon");
    const env = { CARILLON_URL: server.url };
    await run(project, "npm", ["run", "apply"], { ...env, HOME: process.env.HOME });
    const { stdout } = await run(
      project,
      carillon,
      ["job", "run", "@greet-every-minute", "--force", "--wait", "--json"],
      env,
    );
    const { status, output } = JSON.parse(stdout);
    if (status !== "succeeded" || output !== "hello Carillon") throw new Error(`the run ended otherwise:\n${stdout}`);
  } finally {
    await server.stop();
  }
}

/**
 * One line for each walk: null, or why it failed.
 * @param {string} dir
 * @param {import("../pack/tarballs.mjs").Packed} packed
 * @param {{ link: boolean }} options
 */
export async function followNewProjects(dir, packed, { link }) {
  const walks = [
    ["init, install, dev, apply and a run", { link, language: "js" }],
    ["init --typescript, install and the compiler", { link, language: "ts" }],
  ];
  const results = [];
  for (const [title, options] of walks) {
    const failure = await followInit(dir, packed, options).then(
      () => null,
      (error) => error.message,
    );
    results.push({ title, failure });
  }
  return results;
}
