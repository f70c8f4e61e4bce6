import type { DurationMs } from "@carillon/core";
import { PayloadReader } from "@carillon/worker";

export interface KubernetesPayload {
  readonly image: string;
  readonly command: readonly string[] | undefined;
  readonly args: readonly string[] | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** Variables from secrets of the cluster: `secret/key` by variable. */
  readonly secretEnv: Readonly<Record<string, string>>;
  readonly serviceAccount: string | undefined;
  readonly nodeSelector: Readonly<Record<string, string>>;
  readonly requests: Readonly<Record<string, string>>;
  readonly limits: Readonly<Record<string, string>>;
  readonly everyMs: DurationMs;
}

const name = {
  most: 253,
  pattern: /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/,
  words: "a name of lower-case letters, digits, - and .",
};
const secretKey = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?\/[\w.-]+$/;

/** Reads what a job wants to run. Throws a PayloadError that names every fault. */
export function readKubernetesPayload(payload: unknown): KubernetesPayload {
  const reader = new PayloadReader("kubernetes", payload);
  const resources = reader.object("resources");
  const secretEnv = reader.texts("secret_env");
  for (const [variable, place] of Object.entries(secretEnv))
    if (!secretKey.test(place)) reader.fault("secret_env", `must say secret/key at ${variable}`);
  const read: KubernetesPayload = {
    image: reader.requiredText("image", { most: 500, pattern: /^[\w.\-/:@]+$/, words: "an image such as alpine:3" }),
    command: reader.list("command"),
    args: reader.list("args"),
    env: reader.texts("env"),
    secretEnv,
    serviceAccount: reader.text("service_account", name),
    nodeSelector: reader.texts("node_selector"),
    requests: resources?.texts("requests") ?? {},
    limits: resources?.texts("limits") ?? {},
    everyMs: reader.duration("poll_every", 60_000) ?? 2_000,
  };
  reader.end();
  return read;
}
