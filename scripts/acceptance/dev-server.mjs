import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** Starts `carillon dev` of the installed package on a temporary database. */
export async function startDevServer(dir, tasks) {
  const child = spawn(join(dir, "node_modules/.bin/carillon"), ["dev", tasks, "--ephemeral", "--port", "0"], {
    cwd: dir,
    env: { PATH: process.env.PATH, TMPDIR: process.env.TMPDIR ?? "/tmp" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "exit");
  const output = [];
  const url = await new Promise((resolve, reject) => {
    for (const input of [child.stdout, child.stderr])
      createInterface({ input }).on("line", (line) => {
        output.push(line);
        const [, found] = /^ {2}URL +(\S+)$/.exec(line) ?? [];
        if (found !== undefined) resolve(found);
      });
    void ended.then(() => reject(new Error(`carillon dev ended:\n${output.join("\n")}`)));
  });
  return {
    url,
    output,
    async stop() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}
