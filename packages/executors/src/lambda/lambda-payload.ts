import { PayloadReader } from "@carillon/worker";

export interface LambdaPayload {
  readonly functionName: string;
  readonly qualifier: string | undefined;
  readonly event: unknown;
  /** Not waited for: the service keeps it and calls the function itself. */
  readonly isAsync: boolean;
  readonly region: string | undefined;
}

/** Reads what a job wants to call. Throws a PayloadError that names every fault. */
export function readLambdaPayload(payload: unknown): LambdaPayload {
  const reader = new PayloadReader("lambda", payload);
  const functionName = reader.requiredText("function", {
    most: 170,
    pattern: /^[A-Za-z0-9_:-]+$/,
    words: "the name or the ARN of a function",
  });
  const read: LambdaPayload = {
    functionName,
    qualifier: reader.text("qualifier", { most: 128, pattern: /^[A-Za-z0-9$_-]+$/, words: "a version or an alias" }),
    event: reader.value("event") ?? {},
    isAsync: reader.oneOf("invocation", ["sync", "async"]) === "async",
    region: reader.text("region", { pattern: /^[a-z]{2}(?:-[a-z]+)+-\d$/, words: "a region such as eu-west-1" }),
  };
  reader.end();
  return read;
}
