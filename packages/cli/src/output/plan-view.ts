import type { Difference } from "../apply/differences.js";
import type { PlannedStep } from "../apply/plan.js";
import { painter } from "../colour.js";
import { plainText } from "./table.js";

const marks = { create: ["+", "green"], change: ["~", "yellow"], cancel: ["-", "red"] } as const;

/** What would happen to each job, for people; those that stay as they are are only counted. */
export function renderPlan(steps: readonly PlannedStep[], colour: boolean): string {
  const paint = painter(colour);
  const lines = steps.flatMap((step) => {
    if (step.action === "keep") return [];
    const [mark, style] = marks[step.action];
    const note = step.action === "cancel" ? " (in no file)" : "";
    const changes = step.action === "cancel" ? [] : step.differences.filter(({ path }) => path !== "key");
    return [
      paint(style, `${mark} ${step.action} @${step.key}${note}`),
      ...changes.map((one) => `    ${changeText(one)}`),
    ];
  });
  return lines.map((line) => `${line}\n`).join("");
}

function changeText({ path, before, after }: Difference): string {
  const name = plainText(path);
  if (before === undefined) return `${name}: ${shown(after)}`;
  return `${name}: ${shown(before)} → ${after === undefined ? "(left out)" : shown(after)}`;
}

const longest = 200;

function shown(value: unknown): string {
  const text = plainText(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
  return text.length <= longest ? text : `${text.slice(0, longest)}…`;
}

/** The counts in a sentence. */
export function planCounts(
  steps: readonly PlannedStep[],
  words: Readonly<Record<PlannedStep["action"], string>>,
): string {
  const parts = (["create", "change", "cancel", "keep"] as const).flatMap((action) => {
    const count = steps.filter((step) => step.action === action).length;
    return count === 0 ? [] : [`${count} ${words[action]}`];
  });
  return parts.length === 0 ? "nothing to do" : parts.join(", ");
}

/** A step for machines. */
export function planJson(step: PlannedStep): object {
  return {
    action: step.action,
    key: step.key,
    id: "current" in step ? step.current.id : null,
    version: "current" in step ? step.current.version : null,
    differences: "differences" in step ? step.differences : [],
  };
}
