import type { Change, Missed, PlannedChange } from "./change.js";
import type { SeededRandom } from "./random.js";
import type { Rule } from "./rule.js";

/** When the job comes to be and when the load ends; times count from the begin of the load. */
interface Span {
  readonly createAtMs: number;
  readonly loadMs: number;
}

/** Between one change and the next: a call that is not answered is repeated meanwhile. */
const gapMs: readonly [number, number] = [3_000, 15_000];
/** Before the end of the load nothing is changed any more. */
const quietMs = 5_000;
const otherCrons = ["*/4 * * * * *", "*/3 * * * * *", "*/10 * * * * *", "1/2 * * * * *"];
const missed: readonly Missed[] = ["none", "latest", "all"];
/** What a job goes through, in this order. */
const courses: readonly (readonly Change["kind"][])[] = [
  [],
  [],
  ["pause", "resume", "pause", "resume"],
  ["pause", "resume", "edit"],
  ["edit", "edit", "edit"],
  ["edit", "pause", "resume"],
  ["edit", "cancel"],
  ["pause", "cancel"],
];

export function planChanges(
  random: SeededRandom,
  rule: Rule,
  { createAtMs, loadMs }: Span,
): { changes: PlannedChange[]; runNowAtMs: number[] } {
  const changes: PlannedChange[] = [];
  let now = createAtMs;
  let inForce = rule;
  for (const kind of random.pick(courses)) {
    now = nearFire(random, now + random.between(...gapMs), inForce);
    if (now > loadMs - quietMs) break;
    const change = drawChange(random, kind, { rule: inForce, now });
    changes.push({ atMs: now, change });
    if (change.kind === "edit") inForce = change.rule;
    // It ends by itself: the resume that follows comes too late, or just then.
    if (change.kind === "pause" && change.until !== null) now = change.until;
  }
  const runNowAtMs = random.next() < 0.25 ? [random.between(createAtMs + 1_000, loadMs - quietMs)] : [];
  return { changes, runNowAtMs };
}

/** Some one-off jobs are cancelled, some moved to a later time; before their time, at it, or after it. */
export function planOneOffChange(random: SeededRandom, at: number, { createAtMs, loadMs }: Span): PlannedChange[] {
  const chance = random.next();
  const atMs = random.next() < 0.5 ? at + random.between(-20, 20) : random.between(createAtMs, at);
  if (chance > 0.12 || atMs < createAtMs || atMs > loadMs - quietMs) return [];
  if (chance < 0.06) return [{ atMs, change: { kind: "cancel", running: random.pick(["signal", "keep"]) } }];
  return [{ atMs, change: { kind: "edit", rule: { kind: "at", at: loadMs } } }];
}

/** Every other change comes within milliseconds of an occurrence, the first one after its time. */
function nearFire(random: SeededRandom, at: number, rule: Rule): number {
  if (random.next() < 0.5) return at;
  const [everyMs, startsAt] = rule.kind === "every" ? [rule.everyMs, rule.startsAt] : [1_000, 0];
  return startsAt + Math.ceil((at - startsAt) / everyMs) * everyMs + random.between(-8, 8);
}

function drawChange(random: SeededRandom, kind: Change["kind"], { rule, now }: { rule: Rule; now: number }): Change {
  if (kind === "edit") return { kind, rule: otherRule(random, rule) };
  if (kind === "cancel") return { kind, running: random.pick(["signal", "keep"]) };
  if (kind === "resume") return { kind, missed: random.pick(missed) };
  const until = random.next() < 0.3 ? now + random.between(2_000, 8_000) : null;
  return { kind, until, missed: random.pick(missed) };
}

/** Often one whose times are among those of the present rule: the wheel then holds an instant that is right by chance. */
function otherRule(random: SeededRandom, rule: Rule): Rule {
  if (rule.kind === "cron") return { ...rule, cron: random.pick(otherCrons) };
  if (rule.kind === "at" || rule.kind === "never") return rule;
  if (random.next() < 0.75) return { ...rule, everyMs: rule.everyMs < 4_000 ? rule.everyMs * 2 : rule.everyMs / 2 };
  return { ...rule, everyMs: random.pick([1_500, 2_000, 3_500]), startsAt: rule.startsAt + random.between(0, 999) };
}
