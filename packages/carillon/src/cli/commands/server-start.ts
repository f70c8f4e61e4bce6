import type { CommandModule } from "../command.js";
import { configOf, withConfigFlags } from "../input/config-flags.js";
import { runNodeProcess } from "../node-process.js";

export const command: CommandModule = {
  define(target) {
    withConfigFlags(target).addHelpText(
      "after",
      `
Runs until SIGINT or SIGTERM: then it stops listening, lets runs end within --shutdown-grace-period or gives them back. A second
signal ends it at once. Every flag has a variable (CARILLON_PORT) and a key in carillon.config.json (port).

Examples:
  $ carillon server start --database-url postgres://carillon@db.example/carillon
  $ CARILLON_PORT=9000 carillon server start`,
    );
  },
  async run(io, invocation) {
    const { config } = configOf(io, invocation);
    const onReady = ({ url }: { url: string }): void => io.talk(`carillon: listening on ${url}`);
    return runNodeProcess(io, { config, dev: false, reset: false, onReady });
  },
};
