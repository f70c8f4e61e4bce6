// The slowest single answer: parse, compile and the first next fire of each expression, hard ones included. One answer per
// expression, each new to the evaluator; the best of three passes, because a pause of the machine is not an answer's cost.
import { CarillonError, compileCron } from "../../packages/core/dist/index.js";
import { makeExpressions } from "./expressions.mjs";

const everyMinute = Array.from({ length: 60 }, (_, minute) => minute).join(",");
const hard = [
  { expression: "0 0 30 2 *" }, // never
  { expression: "0 0 31 2,4,6,9,11 *" }, // never
  { expression: "0 0 29 2 *" },
  { expression: "0 0 * 2 FRI#5" }, // up to 28 years and more
  { expression: "0 0 29 2 MON", dayMatch: "and" },
  { expression: "30 2 8-14 3 SUN", dayMatch: "and", dst: { gap: "skip" } }, // always in New York's gap
  { expression: "0 0 L-30 * *" },
  { expression: `${everyMinute} 0-23 1,3,5,7,9,11,13 1-12 MON,WED`.slice(0, 256) },
];

function answerMs({ expression, ...options }, timeZone, start) {
  const began = performance.now();
  try {
    compileCron(expression, { timeZone, ...options }).next(start);
  } catch (error) {
    // A refusal is an answer too.
    if (!(error instanceof CarillonError)) throw error;
  }
  return performance.now() - began;
}

/** In a process that has answered for each zone before: what a server pays, not what its start does. */
export function slowestAnswer({ expressions, zones, starts, seed }) {
  const questions = [...makeExpressions(expressions, seed).map((expression) => ({ expression })), ...hard];
  const passes = [0, 1, 2].map(() =>
    questions.flatMap((question, index) =>
      zones.map((zone) => answerMs(question, zone, starts[(index * 7) % starts.length])),
    ),
  );
  return Math.max(...passes[0].map((_, index) => Math.min(...passes.map((times) => times[index]))));
}
