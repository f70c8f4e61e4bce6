// Next-fire computation compared with croner and cron-parser: `node bench/cron/bench.mjs [--quick] [--json]`.
// Every engine parses an expression once and then computes the first fire after random instants; no result is cached. A ratio compares
// Carillon with the faster peer on the same expression and zone.
import { CronExpressionParser } from "cron-parser";
import { Cron } from "croner";
import { CarillonError, compileCron } from "../../packages/core/dist/index.js";
import { describeMachine, printTable, readOptions } from "../report.mjs";
import { makeExpressions, seededRandom } from "./expressions.mjs";

const { quick, json } = readOptions("bench:cron", {});

const SEED = 20_260_301;
const ZONES = ["UTC", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe"];
const FROM = Date.UTC(2000, 0, 1);
const TO = Date.UTC(2060, 0, 1);
const COMMON = ["*/5 * * * *", "0 * * * *", "30 9 * * 1-5", "0 0 * * *", "15 2 1 * *"];
const EXPRESSIONS = quick ? 150 : 1000;
/** A single one of our answers is too fast to be measured; those of the peers are not. */
const OUR_STARTS = 400;
const PEER_STARTS = quick ? 3 : 6;
const THROUGHPUT_ROUNDS = quick ? 200_000 : 1_000_000;

const engines = {
  ours: (expression, timeZone) => {
    const compiled = compileCron(expression, { timeZone });
    return (start) => compiled.next(start);
  },
  croner: (expression, timezone) => {
    const cron = new Cron(expression, { timezone, paused: true });
    return (start) => cron.nextRun(new Date(start))?.getTime() ?? -1;
  },
  "cron-parser": (expression, tz) => {
    const parsed = CronExpressionParser.parse(expression, { tz });
    return (start) => {
      parsed.reset(new Date(start));
      try {
        return parsed.next().getTime();
      } catch {
        // It fails around some clock changes ("loop limit exceeded"); the time until then still counts.
        return -1;
      }
    };
  },
};

const everyMinute = Array.from({ length: 60 }, (_, minute) => minute).join(",");
const HARD = [
  { expression: "0 0 30 2 *" }, // never
  { expression: "0 0 31 2,4,6,9,11 *" }, // never
  { expression: "0 0 29 2 *" },
  { expression: "0 0 * 2 FRI#5" }, // up to 28 years and more
  { expression: "0 0 29 2 MON", dayMatch: "and" },
  { expression: "30 2 8-14 3 SUN", dayMatch: "and", dst: { gap: "skip" } }, // always in New York's gap
  { expression: "0 0 L-30 * *" },
  { expression: `${everyMinute} 0-23 1,3,5,7,9,11,13 1-12 MON,WED`.slice(0, 256) },
];

const random = seededRandom(SEED);
const starts = Float64Array.from({ length: 4096 }, () => FROM + Math.floor(random() * (TO - FROM)));
let sink = 0;

/** Nanoseconds per answer. */
function timeAnswers(answer, firstStart, count) {
  const began = performance.now();
  for (let index = 0; index < count; index++) sink += answer(starts[(firstStart + index) % starts.length]);
  return ((performance.now() - began) * 1e6) / count;
}

function median(values) {
  return quantile(values, 0.5);
}

function quantile(values, part) {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
}

/** Loads the zone tables and compiles the code of all engines before the measurement. */
function warmUp() {
  for (const zone of ZONES) {
    for (const expression of COMMON) {
      for (const [name, make] of Object.entries(engines)) {
        const answer = make(expression, zone);
        timeAnswers(answer, 0, name === "ours" ? 20_000 : 40);
      }
    }
  }
}

function compareWithPeers() {
  const rows = [];
  for (const [index, expression] of makeExpressions(EXPRESSIONS, SEED).entries()) {
    for (const zone of ZONES) {
      const measured = { zone };
      for (const [name, make] of Object.entries(engines)) {
        const answer = make(expression, zone);
        measured[name] = timeAnswers(answer, index * 7, name === "ours" ? OUR_STARTS : PEER_STARTS);
      }
      measured.ratio = Math.min(measured.croner, measured["cron-parser"]) / measured.ours;
      rows.push(measured);
    }
  }
  return rows;
}

function comparisonResult(name, rows, target) {
  const ratio = median(rows.map((row) => row.ratio));
  const of = (engine) => median(rows.map((row) => row[engine]));
  const peers = { croner: of("croner"), "cron-parser": of("cron-parser") };
  const base = { case: name, metric: "next fire, median ratio per expression", unit: "ns", ours: of("ours"), peers };
  return { ...base, floor: null, ratio, target, met: target === null ? null : ratio >= target };
}

function worstDecileResult(rows) {
  const ratio = quantile(
    rows.map((row) => row.ratio),
    0.1,
  );
  const base = {
    case: "all zones",
    metric: "next fire, worst-decile ratio per expression",
    unit: "ratio",
    ours: ratio,
  };
  return { ...base, peers: {}, floor: null, ratio, target: null, met: null };
}

function throughputResult(zone, target) {
  const rates = COMMON.map((expression) => {
    const answer = engines.ours(expression, zone);
    return 1e9 / median([0, 1, 2].map((round) => timeAnswers(answer, round, THROUGHPUT_ROUNDS / COMMON.length)));
  });
  const slowest = Math.min(...rates);
  const base = { case: zone, metric: "next fires per second, slowest of the common expressions", unit: "1/s" };
  return { ...base, ours: slowest, peers: {}, floor: null, ratio: slowest / target, target, met: slowest >= target };
}

function answerMs({ expression, ...options }, timeZone, start) {
  const began = performance.now();
  try {
    compileCron(expression, { timeZone, ...options }).next(start);
  } catch (error) {
    // A refused expression counts too.
    if (!(error instanceof CarillonError)) throw error;
  }
  return performance.now() - began;
}

/**
 * The slowest single answer: parse, compile and the first next fire of each expression, hard ones included, in a process that has used each
 * zone before. Takes the best of three passes, because a pause of the machine is not the cost of an answer.
 */
function slowestAnswerMs() {
  const questions = [...makeExpressions(EXPRESSIONS, SEED).map((expression) => ({ expression })), ...HARD];
  const passes = [0, 1, 2].map(() =>
    questions.flatMap((question, index) =>
      ZONES.map((zone) => answerMs(question, zone, starts[(index * 7) % starts.length])),
    ),
  );
  return Math.max(...passes[0].map((_, index) => Math.min(...passes.map((times) => times[index]))));
}

function slowestResult(target) {
  const ours = slowestAnswerMs();
  const base = {
    case: "all zones",
    metric: "slowest answer, parse to first fire, hard expressions included",
    unit: "ms",
  };
  return { ...base, ours, peers: {}, floor: null, ratio: target / ours, target, met: ours <= target };
}

warmUp();
const rows = compareWithPeers();
const results = [
  comparisonResult("all zones", rows, 20),
  worstDecileResult(rows),
  slowestResult(5),
  ...ZONES.map((zone) =>
    comparisonResult(
      zone,
      rows.filter((row) => row.zone === zone),
      null,
    ),
  ),
  ...ZONES.map((zone) => throughputResult(zone, zone === "UTC" ? 1_000_000 : 500_000)),
];
if (Number.isNaN(sink)) throw new Error("an engine answered no number");
const report = { machine: describeMachine(), results };
if (json) console.log(JSON.stringify(report));
else printTable(report);
process.exitCode = results.every((result) => result.met !== false) ? 0 : 1;
