import { compileCron, type CompiledCron, type CronOptions, NEVER } from "../../../src/index.js";

/** Compiles an expression; null for one that can never fire. */
export function compileIfItFires(expression: string, options: CronOptions): CompiledCron | null {
  try {
    return compileCron(expression, options);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "cron_never_fires") return null;
    throw error;
  }
}

/** The fires with from < fire <= to, in order. */
export function firesBetween(cron: CompiledCron, from: number, to: number): number[] {
  const fires: number[] = [];
  for (let fire = cron.next(from); fire !== NEVER && fire <= to; fire = cron.next(fire)) fires.push(fire);
  return fires;
}

/** The next `count` fires; fewer if they end. */
export function nextFires(cron: CompiledCron, from: number, count: number): number[] {
  const fires: number[] = [];
  for (let fire = cron.next(from); fire !== NEVER && fires.length < count; fire = cron.next(fire)) fires.push(fire);
  return fires;
}

export function iso(instant: number): string {
  return new Date(instant).toISOString();
}
