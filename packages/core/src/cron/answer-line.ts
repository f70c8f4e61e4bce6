import { CarillonError } from "../errors/carillon-error.js";
import type { ErrorCode } from "../errors/catalogue.js";
import { parseRfc3339 } from "../time/instant-text.js";
import { type Instant, NEVER } from "../time/instant.js";
import { type CompiledCron, compileCron } from "./compile.js";
import { type CronQuestion, readCronQuestion } from "./cron-question.js";

const MAX_COMPILED = 4096;
/** Compiled expressions of earlier questions, oldest first. */
const compiled = new Map<string, CompiledCron>();

/**
 * Answers one line of `carillon cron next -`: a JSON question `{"expr", "tz", "from", "count", "day_match", "dst"}`. The
 * answer is `{"next": [...]}` with UTC instants strictly after `from` (default `defaultFrom`), fewer than `count` if the
 * expression ends, or `{"error": {"code", "message"}}`. Never throws.
 */
export function answerCronLine(line: string, defaultFrom?: Instant): string {
  try {
    const question = readCronQuestion(line);
    const from = question.from === undefined ? defaultFrom : parseRfc3339(question.from);
    if (from === undefined)
      throw new CarillonError("bad_request", "Field from is missing; write an RFC 3339 timestamp.");
    if (from === null) {
      const problem = `Field from ${JSON.stringify(question.from)} is not an RFC 3339 timestamp`;
      throw new CarillonError("bad_request", `${problem}; write one such as 2026-03-01T00:00:00Z.`);
    }
    return JSON.stringify({ next: nextTexts(compileOnce(question), from, question.count) });
  } catch (error) {
    const code: ErrorCode = error instanceof CarillonError ? error.code : "internal";
    const message = error instanceof Error ? error.message : String(error);
    return JSON.stringify({ error: { code, message } });
  }
}

function nextTexts(cron: CompiledCron, from: Instant, count: number): string[] {
  const texts: string[] = [];
  for (let fire = cron.next(from); fire !== NEVER && texts.length < count; fire = cron.next(fire)) {
    texts.push(new Date(fire).toISOString());
  }
  return texts;
}

function compileOnce({ expr, tz, dayMatch, dst }: CronQuestion): CompiledCron {
  const key = JSON.stringify([expr, tz, dayMatch, dst.gap, dst.overlap]);
  const cached = compiled.get(key);
  if (cached !== undefined) return cached;
  const cron = compileCron(expr, { timeZone: tz, dayMatch, dst });
  for (const oldest of compiled.keys()) {
    if (compiled.size < MAX_COMPILED) break;
    compiled.delete(oldest);
  }
  compiled.set(key, cron);
  return cron;
}
