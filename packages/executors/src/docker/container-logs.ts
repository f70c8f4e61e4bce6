import type { TaskLog } from "@carillon/worker";

interface Frame {
  readonly stream: "stdout" | "stderr";
  readonly text: string;
}

const headerBytes = 8;

/** Lines of both streams come in frames: one byte says which, four bytes say how long it is. A terminal's output has none. */
function framesOf(body: Buffer): Frame[] {
  const frames: Frame[] = [];
  for (let at = 0; at + headerBytes <= body.length;) {
    const kind = body[at] ?? 0;
    if (kind > 2 || body.readUIntBE(at + 1, 3) !== 0) return [{ stream: "stdout", text: body.toString("utf8") }];
    const end = at + headerBytes + body.readUInt32BE(at + 4);
    frames.push({ stream: kind === 2 ? "stderr" : "stdout", text: body.toString("utf8", at + headerBytes, end) });
    at = end;
  }
  return frames;
}

/** Passes a container's lines on, each once: they carry the time at which they were written. */
export class ContainerLogs {
  readonly #log: TaskLog;
  #last = "";

  constructor(log: TaskLog) {
    this.#log = log;
  }

  /** In the query: only what came after the last line. */
  get since(): string {
    if (this.#last === "") return "0";
    const ms = Date.parse(this.#last);
    return Number.isNaN(ms) ? "0" : String(Math.floor(ms / 1_000));
  }

  add(body: Buffer): void {
    let last = this.#last;
    for (const { stream, text } of framesOf(body)) {
      for (const line of text.split("\n")) {
        const blank = line.indexOf(" ");
        const at = line.slice(0, blank);
        if (blank === -1 || at <= this.#last) continue;
        if (at > last) last = at;
        if (stream === "stderr") this.#log.warn(line.slice(blank + 1), { stream });
        else this.#log.info(line.slice(blank + 1));
      }
    }
    this.#last = last;
  }
}
