import { type Client, ServerUnreachable } from "@carillon/client";
import { Option } from "commander";
import { clientOf, announcedBackoff, quietBackoff, serverAddress, withServerAddress } from "../client.js";
import { type CommandModule, textOption } from "../command.js";
import { numberWithin, wholeNumber } from "../flags.js";
import type { Io } from "../io.js";
import { type DataForm, outputForm, renderJson, renderNext, withOutputForm } from "../output.js";
import { renderPlain, sorts, watchTop } from "../top/screen.js";
import { type Snapshot, RateMeter, counted, takeSnapshot } from "../top/snapshot.js";

const usualEveryS = 2;

export const command: CommandModule = {
  define(target) {
    withServerAddress(withOutputForm(target))
      .option("--every <seconds>", "how often to look", numberWithin(0.5, 3_600), usualEveryS)
      .option("-n, --count <number>", "without a terminal, or as data: so many looks", wholeNumber(1, 1_000_000), 1)
      .addOption(new Option("--sort <by>", "the order of queues").choices(sorts).default("waiting"))
      .addHelpText(
        "after",
        `
Queues with what waits and for how long, workers, runs at work, and runs a second over the last ten seconds.

Keys: q ends, s sorts queues otherwise, space freezes, + and - look less or more often. Where output is no terminal, and with
-o json or jsonl, each look is printed whole, after one pause in which events are counted.

Examples:
  $ carillon top
  $ carillon top -n 3 --every 5 | cat
  $ carillon top --json`,
      );
  },
  async run(io, invocation) {
    const { url } = serverAddress(io, invocation);
    const everyMs = Number(invocation.options["every"]) * 1_000;
    const sort = sorts.find((one) => one === textOption(invocation, "sort")) ?? "waiting";
    const form = outputForm(invocation);
    const screen = form === "table" ? io.terminal : null;
    // Lines of talk would stand in the middle of the screen.
    const client = clientOf(io, invocation, screen === null ? announcedBackoff(io) : quietBackoff(io));
    // Fails at once, with the reason, where there is no server.
    await client.version();
    const over = new AbortController();
    const meter = new RateMeter(io.now());
    const counting = countEvents(io, client, meter, over.signal);
    const lookNow = () => takeSnapshot({ client, url, meter, now: () => io.now() });
    try {
      if (screen !== null) return await watchTop(io, screen, { everyMs, sort, takeSnapshot: lookNow });
      const looks = Number(invocation.options["count"]);
      for (let left = looks; left > 0; left--) {
        await io.sleep(everyMs);
        const seen = await lookNow();
        if (seen === null) throw new ServerUnreachable("network", `${url} cannot be reached.`, null);
        await io.out(form === "table" ? renderPlain(seen, sort) : rendered(seen, form, looks));
      }
    } finally {
      over.abort();
      await counting;
    }
  },
};

/** Only one look alone is a document. */
const rendered = (seen: Snapshot, form: DataForm, looks: number): string =>
  looks === 1 ? renderJson(seen, form) : renderNext(seen, form);

/** Events are hints: a stream that cannot be had leaves the rates at nothing and the rest as it is. */
async function countEvents(io: Io, client: Client, meter: RateMeter, signal: AbortSignal): Promise<void> {
  const kinds: Readonly<Record<string, (typeof counted)[keyof typeof counted] | undefined>> = counted;
  try {
    const query = { type: Object.keys(counted).join(",") };
    for await (const news of client.events.follow(query, { signal, sleep: (ms) => io.sleep(ms, signal) })) {
      const name = "event" in news ? kinds[news.event.type] : undefined;
      if ("event" in news && name !== undefined) meter.add(name, news.event.queue, io.now());
    }
  } catch (error) {
    if (!signal.aborted) io.info(`carillon: no events: ${error instanceof Error ? error.message : String(error)}`);
  }
}
