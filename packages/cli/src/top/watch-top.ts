import type { Io } from "../io.js";
import type { Terminal } from "../terminal.js";
import type { Look } from "./look.js";
import { renderScreen, type Sort, sorts } from "./top-view.js";

export interface WatchTop {
  readonly everyMs: number;
  readonly sort: Sort;
  readonly look: () => Promise<Look | null>;
}

const paces = [500, 1_000, 2_000, 5_000, 10_000, 30_000];
const home = "\u001b[H";
const clearLine = "\u001b[K";
const clearBelow = "\u001b[J";

/** The live view: draws after each look, after each key and when the terminal changes its size, until q. */
export async function watchTop(io: Io, terminal: Terminal, options: WatchTop): Promise<void> {
  let { everyMs, sort } = options;
  let seen: Look | null = null;
  let isFrozen = false;
  let isLost = false;
  const over = new AbortController();
  let pause = new AbortController();
  const draw = (): void => {
    if (seen === null || over.signal.aborted) return;
    const note = isLost ? "the server does not answer" : isFrozen ? "frozen" : null;
    const screen = renderScreen(seen, { ...terminal.size(), colour: io.outColour, sort, note, everyMs });
    void io.out(`${home}${screen.replaceAll("\n", `${clearLine}\r\n`)}${clearLine}${clearBelow}`);
  };
  const onKey = (keys: string): void => {
    for (const key of keys) {
      if (key === "q" || key === "Q" || key === "\u0003" || key === "\u0004") over.abort();
      else if (key === " ") isFrozen = !isFrozen;
      else if (key === "s") sort = sorts[(sorts.indexOf(sort) + 1) % sorts.length] ?? sort;
      else if (key === "+") everyMs = paces.find((pace) => pace > everyMs) ?? everyMs;
      else if (key === "-") everyMs = paces.findLast((pace) => pace < everyMs) ?? everyMs;
    }
    draw();
    pause.abort();
  };
  const giveBack = [terminal.takeScreen(), terminal.onKey(onKey), terminal.onResize(draw)];
  try {
    while (!over.signal.aborted) {
      const next: Look | null = isFrozen && seen !== null ? seen : await options.look();
      isLost = next === null;
      seen = next ?? seen;
      if (seen === null) return;
      draw();
      // A key does not wait for the next look.
      pause = new AbortController();
      if (!over.signal.aborted) await io.sleep(everyMs, pause.signal);
    }
  } finally {
    for (const undo of giveBack.toReversed()) undo();
  }
}
