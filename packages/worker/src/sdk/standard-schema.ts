import { CarillonError } from "@carillon/core";

/** A validator with the interface that schema libraries share (standardschema.dev): zod, valibot, arktype and others have it. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => Verdict<Output> | Promise<Verdict<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

type Verdict<Output> = { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly Issue[] };

interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** What the schema makes of a payload. Throws payload_invalid, with every fault and where it is. */
export async function checkedPayload<Output>(
  task: string,
  schema: StandardSchema<never, Output>,
  payload: unknown,
): Promise<Output> {
  const verdict = await schema["~standard"].validate(payload);
  if (verdict.issues === undefined) return verdict.value;
  const items = verdict.issues.map((issue) => ({
    pointer: `/payload${pointerOf(issue)}`,
    code: "payload_invalid",
    detail: issue.message,
  }));
  const said = items.map(({ pointer, detail }) => `${pointer}: ${detail}`).join("; ");
  throw new CarillonError("payload_invalid", `the payload does not fit the task ${task}: ${said}`, { items });
}

function pointerOf({ path = [] }: Issue): string {
  const names = path.map((step) => String(typeof step === "object" ? step.key : step));
  return names.map((name) => `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
