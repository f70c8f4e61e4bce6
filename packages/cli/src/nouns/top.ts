import { type Client, ServerUnreachable } from "@carillon/client";
import { parseDuration } from "@carillon/core";
import { Option } from "commander";
import { announcedBackoff, clientFor, quietBackoff } from "../client.js";
import { serverAddress, withServerAddress } from "../server-address.js";
import { type CommandBody, textOption } from "../command.js";
import { durationWithin, wholeNumber } from "../flags.js";
import type { Io } from "../io.js";
import { type DataForm, outputForm, renderJson, renderNext, withOutputForm } from "../output.js";
import { renderPlain, sorts, watchTop } from "../top/screen.js";
import { counted, RateMeter, type Snapshot, takeSnapshot } from "../top/snapshot.js";

const defaultEvery = "2s";

export const top: CommandBody = {
  define: (target) =>
    withServerAddress(withOutputForm(target))
      .option("--every <duration>", "how often to refresh", durationWithin("500ms", "1h"), defaultEvery)
      .option("-n, --count <number>", "without a terminal, or as data: so many snapshots", wholeNumber(1, 1_000_000), 1)
      .addOption(new Option("--sort <by>", "the order of queues").choices(sorts).default("waiting")),
  notes: `
Queues with their waiting runs and how long these wait, workers, runs at work, and runs a second over the last ten seconds.

Keys: q ends, s changes the order of queues, space freezes, + and - refresh less or more often. If output is no terminal, and with
-o json or jsonl, each snapshot is printed whole, after one pause in which events are counted.`,
  examples: ["carillon top", "carillon top -n 3 --every 5s | cat", "carillon top --json"],
  async run(io, invocation) {
    const address = await serverAddress(io, invocation);
    const { url } = address;
    const everyMs = parseDuration(textOption(invocation, "every") ?? defaultEvery);
    const sort = sorts.find((one) => one === textOption(invocation, "sort")) ?? "waiting";
    const form = outputForm(invocation);
    const screen = form === "table" ? io.terminal : null;
    // Messages would be printed in the middle of the screen.
    const client = clientFor(io, address, screen === null ? announcedBackoff(io) : quietBackoff(io));
    // Fails immediately, with the reason, if there is no server.
    await client.version();
    const over = new AbortController();
    const meter = new RateMeter(io.now());
    const counting = countEvents(io, client, meter, over.signal);
    const snapshot = () => takeSnapshot({ client, url, meter, now: () => io.now() });
    try {
      if (screen !== null) return await watchTop(io, screen, { everyMs, sort, takeSnapshot: snapshot });
      const count = Number(invocation.options["count"]);
      for (let left = count; left > 0; left--) {
        await io.sleep(everyMs);
        const seen = await snapshot();
        if (seen === null) throw new ServerUnreachable("network", `${url} cannot be reached.`, null);
        await io.out(form === "table" ? renderPlain(seen, sort) : rendered(seen, form, count));
      }
    } finally {
      over.abort();
      await counting;
    }
  },
};

/** Only a single snapshot is a document. */
const rendered = (seen: Snapshot, form: DataForm, count: number): string =>
  count === 1 ? renderJson(seen, form) : renderNext(seen, form);

/** Without an event stream the rates are zero, and the rest is as it is. */
async function countEvents(io: Io, client: Client, meter: RateMeter, signal: AbortSignal): Promise<void> {
  const kinds: Readonly<Record<string, (typeof counted)[keyof typeof counted] | undefined>> = counted;
  try {
    const query = { type: Object.keys(counted).join(",") };
    for await (const message of client.events.follow(query, { signal, sleep: (ms) => io.sleep(ms, signal) })) {
      const name = "event" in message ? kinds[message.event.type] : undefined;
      if ("event" in message && name !== undefined) meter.add(name, message.event.queue, io.now());
    }
  } catch (error) {
    if (!signal.aborted) io.info(`carillon: no events: ${error instanceof Error ? error.message : String(error)}`);
  }
}
