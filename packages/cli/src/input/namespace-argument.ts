import type { Namespace } from "@carillon/contract";
import type { Command } from "commander";
import { withServerAddress } from "../client.js";
import type { Invocation } from "../command.js";
import { wholeNumber } from "../flags.js";
import type { Io } from "../io.js";
import { outputForm, renderJson, withOutputForm } from "../output.js";
import { renderNamespace } from "../output/namespace-view.js";

const maxWeight = 1_000;

/** A command about one namespace. */
export function withNamespaceArgument(command: Command): Command {
  const named = command.argument("<name>", "its name");
  return withServerAddress(withOutputForm(named)).option(
    "--weight <number>",
    "its share of workers that serve several namespaces",
    wholeNumber(1, maxWeight),
  );
}

export function weightOption({ options }: Invocation): { readonly weight?: number } {
  const { weight } = options;
  return typeof weight === "number" ? { weight } : {};
}

export async function printNamespace(io: Io, invocation: Invocation, namespace: Namespace): Promise<void> {
  const form = outputForm(invocation);
  await io.out(form === "table" ? renderNamespace(namespace) : renderJson(namespace, form));
}
