/** One event of a stream. */
export interface SentEvent {
  readonly id: string;
  readonly event: string;
}

/** A reader of server-sent events. */
export class SentEvents {
  readonly #leave: AbortController;
  readonly #chunks: AsyncIterator<string>;
  #text = "";

  /** Resolves when the stream has begun. */
  static async open(url: string, lastEventId?: string): Promise<SentEvents> {
    const leave = new AbortController();
    const headers = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
    const { body } = await fetch(url, { headers, signal: leave.signal });
    if (body === null) throw new Error("a stream of events has no body");
    const events = new SentEvents(leave, body.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]());
    await events.#block();
    return events;
  }

  private constructor(leave: AbortController, chunks: AsyncIterator<string>) {
    this.#leave = leave;
    this.#chunks = chunks;
  }

  /** The next event, of this kind if one is named. */
  async next(kind?: string): Promise<SentEvent> {
    for (;;) {
      const block = await this.#block();
      const field = (name: string): string => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1] ?? "";
      const found = { id: field("id"), event: field("event") };
      if (found.event !== "" && (kind === undefined || found.event === kind)) return found;
    }
  }

  async close(): Promise<void> {
    this.#leave.abort();
    await this.#chunks.next().catch(() => undefined);
  }

  async #block(): Promise<string> {
    for (let end = this.#text.indexOf("\n\n"); ; end = this.#text.indexOf("\n\n")) {
      if (end !== -1) {
        const block = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 2);
        return block;
      }
      const { value, done } = await this.#chunks.next();
      if (done === true) throw new Error("the stream of events ended");
      this.#text += value;
    }
  }
}
