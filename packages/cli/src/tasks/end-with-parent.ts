/** What a process knows of the channel to whoever started it. */
interface Channelled {
  /** Undefined where there never was a channel, false where it is gone. */
  readonly connected?: boolean | undefined;
  readonly channel?: { unref(): void } | null | undefined;
  once(event: "disconnect", listener: () => void): unknown;
}

/**
 * Whoever started this process with a channel wants it no longer than it lives itself: old code must not go on serving. It may be
 * gone before this process has loaded what it serves.
 */
export function endWithParent(process: Channelled, asked: AbortController): void {
  if (process.connected === undefined) return;
  if (!process.connected) return asked.abort();
  process.once("disconnect", () => asked.abort());
  // The listener alone would keep a process that has ended its work.
  process.channel?.unref();
}
