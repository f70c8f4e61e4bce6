import { type Option, optionsError } from "@carillon/contract/check";
import { CarillonError, type ErrorItem } from "@carillon/core";
import { taskOptions } from "./call-options.js";

/** Where a registration has what tasks declare: /defaults/<task>/<field>… */
const declared = /^\/(defaults|versions|weights)\/([^/]+)(.*)$/;

/** The options of a task that are not defaults of its runs. */
const traits = new Map([
  ["versions", "/versions"],
  ["weights", "/weight"],
]);

/**
 * The error of a user whose tasks the engine refuses when a worker registers, in the words of the SDK: the task and its options. Null if
 * the refusal has another reason.
 */
export function taskRefusal(items: readonly ErrorItem[]): CarillonError | null {
  const byTask = new Map<string, ErrorItem[]>();
  for (const { pointer, code, detail } of items) {
    const [, kind = "", task, inner = ""] = declared.exec(pointer) ?? [];
    if (task === undefined) return null;
    const place = `${traits.get(kind) ?? ""}${inner}`;
    const name = task.replaceAll("~1", "/").replaceAll("~0", "~");
    const item = { pointer: camelNames(place), code, detail: camelNames(detail) };
    byTask.set(name, [...(byTask.get(name) ?? []), item]);
  }
  if (byTask.size === 0) return null;
  const refusals = [...byTask].map(([subject, found]) => optionsError(found, { name: "task", subject }));
  return new CarillonError("config_invalid", refusals.map(({ message }) => message).join("\n"), { items });
}

/** The names of the API, such as max_attempts, as the options of a task have them. Other words stay as they are. */
function camelNames(text: string): string {
  return text.replaceAll(/[a-z]+(?:_[a-z]+)+/g, (word) => {
    const name = word.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    return optionNames.has(name) ? name : word;
  });
}

const optionNames = namesOf(taskOptions);

function namesOf({ properties = {}, items }: Option<unknown>): ReadonlySet<string> {
  const inner = [...Object.values(properties), ...(items === undefined ? [] : [items])];
  return new Set([...Object.keys(properties), ...inner.flatMap((one) => [...namesOf(one)])]);
}
