import type { Worker } from "@carillon/contract";
import type { Command } from "commander";
import { type CommandModule, type Invocation, requiredArg } from "../command.js";
import type { Io } from "../io.js";
import { outputForm, renderJson, withOutputForm } from "../output.js";
import { renderWorker } from "../output/worker-view.js";
import { clientOf, withServerAddress } from "../client.js";
import { printUndo } from "../undo.js";

/** A command that asks something of one worker, and how to take it back. */
export function workerCommand(verb: "cordon" | "uncordon", help: string, undo: string): CommandModule {
  return {
    define(target) {
      withWorkerArgument(target).addHelpText("after", help);
    },
    async run(io, invocation) {
      const id = requiredArg(invocation, 0);
      await printWorker(io, invocation, await clientOf(io, invocation).workers[verb](id));
      printUndo(io, invocation, `${verb}ed`, `worker ${undo} ${id}`);
    },
  };
}

export function withWorkerArgument(command: Command): Command {
  return withServerAddress(withOutputForm(command.argument("<worker>", "its id, as in wrk_…")));
}

export async function printWorker(io: Io, invocation: Invocation, worker: Worker): Promise<void> {
  const form = outputForm(invocation);
  await io.out(form === "table" ? renderWorker(worker) : renderJson(worker, form));
}
