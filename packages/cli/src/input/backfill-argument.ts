import type { Backfill } from "@carillon/contract";
import type { Command } from "commander";
import { type Invocation, requiredArg } from "../command.js";
import type { Io } from "../io.js";
import { renderBackfill } from "../output/backfill-view.js";
import { outputForm, renderJson, withOutputForm } from "../output.js";
import { withServerAddress } from "../client.js";

/** A command about one backfill. */
export function withBackfillArgument(command: Command): Command {
  return withServerAddress(withOutputForm(command.argument("<backfill>", "its id, as in bkf_…")));
}

export const backfillArgument = (invocation: Invocation): string => requiredArg(invocation, 0);

/** The backfill that a command ended with. */
export async function printBackfill(io: Io, invocation: Invocation, backfill: Backfill): Promise<void> {
  const form = outputForm(invocation);
  await io.out(form === "table" ? renderBackfill(backfill) : renderJson(backfill, form));
}
