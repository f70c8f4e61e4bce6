import {
  checkArgument,
  checkOptions,
  instantOf,
  keyPattern,
  type Option,
  option,
  type OptionCall,
  shown,
} from "@carillon/contract/check";
import { CarillonError } from "@carillon/core";
import { isTask, scheduleOptions, taskOptions, workerSettings } from "./call-options.js";

/** Checks the task and the options of a call that creates runs. As every check here, it throws before anything is sent or stored. */
export function checkRunCall(name: string, task: unknown, schema: Option<unknown>, options: unknown): void {
  const call = taskCall(name, task);
  checkOptions(schema, options, schema.type === "array" ? { ...call, noun: "the items" } : call);
}

/** `caller` is the function that the user called: the stack of the error begins in the user's own code. */
export function checkTaskOptions(options: unknown, caller: (...given: never[]) => unknown): void {
  try {
    checkOptions(taskOptions, options, { name: "task", subject: subjectOf(options), code: "config_invalid" });
  } catch (error) {
    if (error instanceof CarillonError) Error.captureStackTrace(error, caller);
    throw error;
  }
}

const keyArgument = option.object({ key: option.required(option.text({ pattern: keyPattern })) });

export function checkScheduleCall(name: string, { task, key }: JobArguments, options: unknown): void {
  taskCall(name, task);
  const call = { name, subject: typeof key === "string" ? key : undefined };
  checkOptions(keyArgument, { key }, call);
  checkOptions(scheduleOptions, options, call);
}

interface JobArguments {
  readonly task: unknown;
  readonly key: unknown;
}

/** The time of addJob is an argument of its own: without it the run would start at once. */
export function checkTime(name: string, task: unknown, time: unknown): void {
  checkArgument({ ...taskCall(name, task), noun: "the time" }, () => instantOf(time));
}

export function checkWorkerSettings(name: string, settings: unknown): void {
  checkOptions(workerSettings, settings, { name, code: "config_invalid" });
}

/** Refuses a first argument that is neither a task nor a name. */
function taskCall(name: string, task: unknown): OptionCall {
  if (typeof task === "string") return { name, subject: task };
  if (isTask(task)) return { name, subject: task.name };
  const detail = `${name}(): the task must be what task() returned, or the name of a task, not ${shown(task)}.`;
  throw new CarillonError("field_invalid", detail);
}

/** The name of a task whose options may be wrong. */
function subjectOf(options: unknown): string | undefined {
  const named = typeof options === "object" && options !== null && "name" in options ? options.name : undefined;
  return typeof named === "string" ? named : undefined;
}
