import {
  type Callback as CoreCallback,
  type CallbackMoment,
  callbackMoments,
  type CallbackPart,
  callbackParts,
  present,
} from "@carillon/core";
import { type Static, Type } from "typebox";
import { callbackLimits, limits, namePattern, webAddressPattern } from "../bounds.js";
import type { Findings } from "../check/findings.js";
import { object, stringEnum } from "../fields.js";
import { exactlyOne, type Rule } from "../rules.js";

/** dead means failed: a run that failed for good is a dead letter. */
const Moment = stringEnum([...callbackMoments, "dead"]);

export const On = Type.Array(Moment, {
  minItems: 1,
  maxItems: callbackLimits.moments,
  description: "The ends of runs to report; dead means the same as failed",
  examples: [["failed"]],
});

export const Include = Type.Array(stringEnum(callbackParts), {
  maxItems: callbackLimits.moments,
  description: "What the message includes beside the facts of the run; error by default",
});

/** What an address must fulfil beside its pattern. */
export const targetRules = [
  { code: "field_invalid", rule: "url is a valid URL without a user name or a password" },
  { code: "address_refused", rule: "The server may send requests to url" },
] as const satisfies readonly Rule[];

export const TargetUrl = Type.String({
  minLength: 1,
  maxLength: callbackLimits.urlLength,
  format: "uri",
  pattern: webAddressPattern,
  description: "The address that messages are posted to",
  examples: ["https://example.com/hooks/carillon"],
});

export const Callback = object(
  "Callback",
  {
    on: Type.Optional(On),
    url: Type.Optional(TargetUrl),
    task: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: limits.nameLength,
        pattern: namePattern,
        description: "A task that runs with the message as its payload, in the queue of the run",
        examples: ["report.broken"],
      }),
    ),
    include: Type.Optional(Include),
  },
  {
    description: "Reports the end of a run to a url or a task. Every end if on is left out",
    ...exactlyOne(["url", "task"]),
    "x-carillon-rules": targetRules,
  },
);
export type Callback = Static<typeof Callback>;

export const Callbacks = Type.Array(Callback, { maxItems: callbackLimits.callbacks });

export const defaultParts: readonly CallbackPart[] = ["error"];

/** Reads callbacks, each of which has either url or task. */
export function callbacksOf(
  given: readonly Callback[],
  refuse: RefuseTarget | undefined,
  findings: Findings,
): CoreCallback[] {
  return given.map(({ on, url, task, include }, place) => {
    const pointer = `/callbacks/${place}`;
    if ((url === undefined) === (task === undefined) && !findings.hasInside(pointer)) {
      findings.add(pointer, "field_invalid", "Must have either url or task.");
    }
    if (url !== undefined) checkTarget(url, `${pointer}/url`, findings, refuse);
    return {
      on: momentsOf(on),
      ...present({ url, task }),
      include: include ?? defaultParts,
    };
  });
}

/** Every end by default. */
export function momentsOf(words: readonly (CallbackMoment | "dead")[] | undefined): CallbackMoment[] {
  if (words === undefined) return [...callbackMoments];
  const meant = new Set(words.map((word) => (word === "dead" ? "failed" : word)));
  return callbackMoments.filter((moment) => meant.has(moment));
}

/** Why an address may never be posted to, or null. Host names are resolved and checked only when a message is sent, because they can change. */
export type RefuseTarget = (url: URL) => string | null;

/** Records why an address cannot be posted to, if so. */
export function checkTarget(text: string, pointer: string, findings: Findings, refuse?: RefuseTarget): void {
  if (!URL.canParse(text)) return findings.add(pointer, "field_invalid", "Must be a valid URL.");
  const url = new URL(text);
  const refusal = refuse?.(url) ?? null;
  if (refusal !== null) findings.add(pointer, "address_refused", refusal);
  if (url.username === "" && url.password === "") return;
  findings.add(
    pointer,
    "field_invalid",
    "Must not hold a user name or a password: they would be shown with the address.",
  );
}
