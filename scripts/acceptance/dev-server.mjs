// `carillon dev` of the installed package, on a database that goes with it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** @param {string} dir of the project */
export async function startDev(dir) {
  const args = ["dev", "./tasks.mjs", "--ephemeral", "--port", "0"];
  const child = spawn(join(dir, "node_modules/.bin/carillon"), args, {
    cwd: dir,
    env: { PATH: process.env.PATH, TMPDIR: process.env.TMPDIR ?? "/tmp" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "exit");
  const said = [];
  const url = await new Promise((resolve, reject) => {
    for (const input of [child.stdout, child.stderr])
      createInterface({ input }).on("line", (line) => {
        said.push(line);
        const [, found] = /^ {2}URL +(\S+)$/.exec(line) ?? [];
        if (found !== undefined) resolve(found);
      });
    void ended.then(() => reject(new Error(`carillon dev ended:\n${said.join("\n")}`)));
  });
  return {
    url,
    said,
    async stop() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}
