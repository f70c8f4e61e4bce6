/** One block of a stream of server-sent events. */
export interface SentEvent {
  readonly id?: string;
  readonly type: string;
  /** Empty where the block only names a place. */
  readonly data: string;
}

/** Longer than any event of ours: something else answers there. */
const longestBlock = 1_048_576;

/** Reads `text/event-stream`, so far as our servers write it: lines end with LF, comments are left out. */
export async function* sentEvents(bytes: ReadableStream<Uint8Array>): AsyncGenerator<SentEvent, void, undefined> {
  const decoder = new TextDecoder();
  const reader = bytes.getReader();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += decoder.decode(value, { stream: true });
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      if (text.length > longestBlock) throw new Error("the server sends no events");
      for (const block of blocks) yield eventOf(block);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function eventOf(block: string): SentEvent {
  let id: string | undefined;
  let type = "message";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon);
    const value = line.slice(colon + 1).replace(/^ /, "");
    if (name === "id") id = value;
    else if (name === "event") type = value;
    else if (name === "data") data.push(value);
  }
  return { ...(id !== undefined && { id }), type, data: data.join("\n") };
}
