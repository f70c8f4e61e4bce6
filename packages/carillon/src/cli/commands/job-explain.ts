import type { CommandModule } from "../command.js";
import { jobArgument, withJobArgument } from "../input/job-argument.js";
import { clientOf } from "../input/server-address.js";
import { renderJobExplanation } from "../output/explanation-view.js";
import { outputForm, renderJson } from "../output/form.js";

export const command: CommandModule = {
  define(target) {
    withJobArgument(target).addHelpText(
      "after",
      `
Example:
  $ carillon job explain @nightly-report`,
    );
  },
  async run(io, invocation) {
    const explanation = await clientOf(io, invocation).jobs.explain(jobArgument(invocation));
    const form = outputForm(invocation);
    await io.out(form === "table" ? renderJobExplanation(explanation) : renderJson(explanation, form));
  },
};
