import { clientOf, withServerAddress } from "../client.js";
import type { CommandModule } from "../command.js";
import { wholeNumber } from "../flags.js";
import { outputForm, renderJson, withOutputForm } from "../output.js";
import { renderForecast } from "../output/forecast-view.js";

export const command: CommandModule = {
  define(target) {
    withServerAddress(withOutputForm(target))
      .option("--hours <number>", "how far to look ahead", wholeNumber(1, 24), 1)
      .addHelpText(
        "after",
        `
Example:
  $ carillon job forecast --hours 6`,
      );
  },
  async run(io, invocation) {
    const { hours } = invocation.options;
    const query = { hours: typeof hours === "number" ? hours : 1 };
    const forecast = await clientOf(io, invocation).jobs.forecast(query);
    const form = outputForm(invocation);
    await io.out(form === "table" ? renderForecast(forecast) : renderJson(forecast, form));
  },
};
