import type { BulkOperation } from "@carillon/contract";
import type { Command } from "commander";
import { type Invocation, requiredArg } from "../command.js";
import type { Io } from "../io.js";
import { outputForm, renderJson, withOutputForm } from "../output.js";
import { renderOperation } from "../output/operation-view.js";
import { withServerAddress } from "../client.js";

/** A command about one operation. */
export function withOperationArgument(command: Command): Command {
  return withServerAddress(withOutputForm(command.argument("<operation>", "its id, as in op_…")));
}

export const operationArgument = (invocation: Invocation): string => requiredArg(invocation, 0);

export async function printOperation(io: Io, invocation: Invocation, operation: BulkOperation): Promise<void> {
  const form = outputForm(invocation);
  await io.out(form === "table" ? renderOperation(operation) : renderJson(operation, form));
}
