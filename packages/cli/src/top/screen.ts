import type { Run, Worker } from "@carillon/contract";
import type { Io, Terminal } from "../io.js";
import { type Column, fieldColumns, type Paint, painter, plainText, renderTable } from "../output.js";
import type { Snapshot, QueueSnapshot } from "./snapshot.js";

export const sorts = ["waiting", "lag", "rate", "name"] as const;
export type Sort = (typeof sorts)[number];

export interface ViewOptions {
  readonly columns: number;
  readonly rows: number;
  readonly colour: boolean;
  readonly sort: Sort;
  /** Why the snapshot may be old. */
  readonly note: string | null;
  readonly everyMs: number;
}

const minRows = 3;

/** One screen: never wider or higher than the terminal, so that nothing scrolls. */
export function renderScreen(view: Snapshot, options: ViewOptions): string {
  const paint = painter(options.colour);
  const head = headLines(view, options, paint);
  const room = Math.max(0, options.rows - head.length - 1);
  const sections = sectionsOf(view, options.sort);
  const shares = shareOut(
    sections.map(({ lines }) => lines.length),
    room - sections.length * 2,
  );
  const body = sections.flatMap(({ title, lines }, index) => {
    const share = shares[index] ?? 0;
    const hidden = lines.length - share;
    const shown = hidden > 0 ? lines.slice(0, Math.max(1, share)) : lines;
    const cut = lines.length - shown.length;
    const [header = "", ...rows] = shown;
    return ["", paint("bold", cut > 0 ? `${title} (${cut} more)` : title), paint("gray", header), ...rows];
  });
  const foot = paint("gray", `q quit  s sort: ${options.sort}  space freeze  +/- every ${options.everyMs / 1_000} s`);
  const lines = [...head, ...body].slice(0, Math.max(1, options.rows - 1));
  return [...lines, foot].map((line) => cutTo(line, options.columns)).join("\n");
}

/** The same without a terminal: every row. */
export function renderPlain(view: Snapshot, sort: Sort): string {
  const head = headLines(view, { note: null }, painter(false));
  const sections = sectionsOf(view, sort).flatMap(({ title, lines }) => ["", title, ...lines]);
  return [...head, ...sections, ""].map((line) => `${line}\n`).join("");
}

function headLines(view: Snapshot, { note }: Pick<ViewOptions, "note">, paint: Paint): string[] {
  const state = view.ready ? paint("green", "ready") : paint("red", "not ready");
  const { fired, started, succeeded, failed, retried } = view.rates;
  const failing = failed > 0 ? paint("red", `failed ${failed}`) : `failed ${failed}`;
  const waiting = view.queues.reduce((sum, { stats }) => sum + stats.queued, 0);
  const running = view.queues.reduce((sum, { stats }) => sum + stats.running, 0);
  const lagMs = Math.max(0, ...view.queues.map(({ stats }) => stats.lag_ms));
  return [
    `${paint("bold", "carillon")} ${view.version}  ${note === null ? state : paint("yellow", note)}  ${view.url}  ${view.at.slice(0, 19)}Z`,
    `runs a second: fired ${fired}  started ${started}  succeeded ${succeeded}  ${failing}  retried ${retried}`,
    `now: ${waiting} waiting, ${running} running, the oldest due for ${seconds(lagMs)}; ${view.workers.length} worker${view.workers.length === 1 ? "" : "s"}`,
  ];
}

interface Section {
  readonly title: string;
  /** The first one is the header. */
  readonly lines: readonly string[];
}

function sectionsOf(view: Snapshot, sort: Sort): Section[] {
  const now = Date.parse(view.at);
  const queues = [...view.queues].sort(orders[sort]);
  return [
    { title: view.more_queues ? "QUEUES (the first by name)" : "QUEUES", lines: tableLines(queueColumns, queues) },
    { title: "WORKERS", lines: tableLines(workerColumns(view.running, now), view.workers) },
    { title: "RUNNING", lines: tableLines(runColumns(now), view.running) },
  ];
}

function tableLines<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string[] {
  return renderTable(columns, rows).trimEnd().split("\n");
}

const byName = (a: QueueSnapshot, b: QueueSnapshot): number => (a.name < b.name ? -1 : 1);
const orders: Record<Sort, (a: QueueSnapshot, b: QueueSnapshot) => number> = {
  waiting: (a, b) => b.stats.queued - a.stats.queued || byName(a, b),
  lag: (a, b) => b.stats.lag_ms - a.stats.lag_ms || byName(a, b),
  rate: (a, b) => b.rates.started - a.rates.started || byName(a, b),
  name: byName,
};

const queueColumns: readonly Column<QueueSnapshot>[] = [
  { title: "NAME", value: ({ name }) => name },
  { title: "STATE", value: ({ paused }) => (paused ? "paused" : "open") },
  { title: "WAITING", value: ({ stats }) => `${stats.queued}${stats.exact ? "" : "+"}`, align: "right" },
  { title: "RUNNING", value: ({ stats }) => String(stats.running), align: "right" },
  { title: "LAG", value: ({ stats }) => seconds(stats.lag_ms), align: "right" },
  { title: "STARTED/S", value: ({ rates }) => String(rates.started), align: "right" },
  { title: "FAILED/S", value: ({ rates }) => String(rates.failed), align: "right" },
  { title: "WORKERS", value: ({ stats }) => String(stats.workers), align: "right" },
  { title: "SLOTS", value: ({ stats }) => String(stats.slots), align: "right" },
  { title: "DESIRED", value: ({ stats }) => String(stats.desired_workers), align: "right" },
];

function workerColumns(running: readonly Run[], now: number): readonly Column<Worker>[] {
  const busy = new Map<string, number>();
  for (const { worker_id: id } of running) if (id !== null) busy.set(id, (busy.get(id) ?? 0) + 1);
  return [
    ...fieldColumns("name", "state"),
    { title: "BUSY", value: ({ id, slots }) => `${busy.get(id) ?? 0}/${slots}`, align: "right" },
    { title: "QUEUES", value: ({ queues }) => queues.join(",") },
    { title: "SEEN", value: (worker) => `${seconds(now - Date.parse(worker.heartbeat_at))} ago`, align: "right" },
    { title: "ID", value: ({ id }) => id },
  ];
}

function runColumns(now: number): readonly Column<Run>[] {
  return [
    ...fieldColumns("task", "queue"),
    {
      title: "FOR",
      value: (run) => (run.started_at === null ? "-" : seconds(now - Date.parse(run.started_at))),
      align: "right",
    },
    { title: "TRY", value: (run) => `${run.attempt}/${run.max_attempts}`, align: "right" },
    {
      title: "PROGRESS",
      value: ({ progress }) => (progress === null ? "" : `${Math.floor(progress.fraction * 100)} %`),
      align: "right",
    },
    { title: "ID", value: ({ id }) => id },
  ];
}

/** 950 ms, 12.3 s, 14 min, 3.2 h */
function seconds(ms: number): string {
  const span = Math.max(0, ms);
  if (span < 1_000) return `${Math.round(span)} ms`;
  if (span < 120_000) return `${(span / 1_000).toFixed(1)} s`;
  return span < 7_200_000 ? `${Math.round(span / 60_000)} min` : `${(span / 3_600_000).toFixed(1)} h`;
}

/** Gives each section the rows that it needs; if the room is too small, each gets a few, and the first gets the rest. */
function shareOut(wants: readonly number[], room: number): number[] {
  const shares = wants.map((want) => Math.min(want, minRows));
  let left = room - shares.reduce((sum, share) => sum + share, 0);
  return shares.map((share, index) => {
    const more = Math.max(0, Math.min(left, (wants[index] ?? 0) - share));
    left -= more;
    return share + more;
  });
}

// eslint-disable-next-line no-control-regex
const escape = /\u001b\[[0-9;]*m/g;

/** Cuts to the visible width: codes for colours take no room. */
function cutTo(line: string, columns: number): string {
  let left = columns;
  let out = "";
  let at = 0;
  for (const code of line.matchAll(escape)) {
    const text = Array.from(plainText(line.slice(at, code.index)));
    out += text.slice(0, left).join("") + code[0];
    left = Math.max(0, left - text.length);
    at = code.index + code[0].length;
  }
  return (
    out +
    Array.from(plainText(line.slice(at)))
      .slice(0, left)
      .join("")
  );
}

export interface WatchTop {
  readonly everyMs: number;
  readonly sort: Sort;
  readonly takeSnapshot: () => Promise<Snapshot | null>;
}

const paces = [500, 1_000, 2_000, 5_000, 10_000, 30_000];
const home = "\u001b[H";
const clearLine = "\u001b[K";
const clearBelow = "\u001b[J";

/** The live view: draws after each snapshot, after each key and when the terminal changes its size, until q. */
export async function watchTop(io: Io, terminal: Terminal, options: WatchTop): Promise<void> {
  let { everyMs, sort } = options;
  let seen: Snapshot | null = null;
  let isFrozen = false;
  let isLost = false;
  const over = new AbortController();
  let pause = new AbortController();
  const draw = (): void => {
    if (seen === null || over.signal.aborted) return;
    const note = isLost ? "the server does not answer" : isFrozen ? "frozen" : null;
    const screen = renderScreen(seen, { ...terminal.size(), colour: io.stdoutColour, sort, note, everyMs });
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
  const restoreScreen = [terminal.takeScreen(), terminal.onKey(onKey), terminal.onResize(draw)];
  try {
    while (!over.signal.aborted) {
      const next: Snapshot | null = isFrozen && seen !== null ? seen : await options.takeSnapshot();
      isLost = next === null;
      seen = next ?? seen;
      if (seen === null) return;
      draw();
      // A key ends the pause.
      pause = new AbortController();
      if (!over.signal.aborted) await io.sleep(everyMs, pause.signal);
    }
  } finally {
    for (const undo of restoreScreen.toReversed()) undo();
  }
}
