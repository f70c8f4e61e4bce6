import { type Callback, type CallbackMoment, callbackMoments, type CallbackPart } from "@carillon/core";
import type { Findings } from "../check/findings.js";
import type { Callback as CallbackRequest } from "../schema/end-callback.js";

export const usualParts: readonly CallbackPart[] = ["error"];

/** Where callbacks stand in the request, and which addresses they may not have. */
export interface CallbackPlace {
  readonly at: string;
  readonly refuse: RefuseTarget | undefined;
}

/** Reads whom to tell; each names one of url and task. */
export function callbacksOf(
  given: readonly CallbackRequest[],
  { at, refuse }: CallbackPlace,
  findings: Findings,
): Callback[] {
  return given.map(({ on, url, task, include }, place) => {
    const isList = at === "/callbacks";
    const pointer = isList ? `${at}/${place}` : at;
    if ((url === undefined) === (task === undefined) && !findings.hasInside(pointer)) {
      findings.add(pointer, "field_invalid", "names one of url and task");
    }
    if (url !== undefined) checkTarget(url, isList ? `${pointer}/url` : at, findings, refuse);
    return {
      on: momentsOf(on),
      ...(url !== undefined && { url }),
      ...(task !== undefined && { task }),
      include: include ?? usualParts,
    };
  });
}

/** Every end when nothing is said. */
export function momentsOf(words: readonly (CallbackMoment | "dead")[] | undefined): CallbackMoment[] {
  if (words === undefined) return [...callbackMoments];
  const meant = new Set(words.map((word) => (word === "dead" ? "failed" : word)));
  return callbackMoments.filter((moment) => meant.has(moment));
}

/** Why an address may never be posted to, or null. Of a name that is decided when it is: names lead elsewhere with time. */
export type RefuseTarget = (url: URL) => string | null;

/** An address that can be posted to. */
export function checkTarget(text: string, pointer: string, findings: Findings, refuse?: RefuseTarget): void {
  if (!URL.canParse(text)) return findings.add(pointer, "field_invalid", "is not an address that can be read");
  const url = new URL(text);
  const refusal = refuse?.(url) ?? null;
  if (refusal !== null) findings.add(pointer, "address_refused", refusal);
  if (url.username === "" && url.password === "") return;
  findings.add(
    pointer,
    "field_invalid",
    "has a name and a password in it, which everybody would see who sees the address",
  );
}
