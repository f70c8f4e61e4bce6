import { PayloadReader, secretName } from "@carillon/worker";

const image = /^[a-z0-9][a-z0-9._\-/:]*(?:@sha256:[0-9a-f]{64})?$/i;

export type DockerPayload = ReturnType<typeof readDockerPayload>;

/** Throws a PayloadError that names every fault. */
export function readDockerPayload(payload: unknown) {
  const reader = new PayloadReader("docker", payload);
  const secretEnv = reader.texts("secret_env");
  for (const [name, secret] of Object.entries(secretEnv))
    if (!secretName.test(secret)) reader.fault("secret_env", `must have the name of a secret at ${name}`);
  const cpus = reader.value("cpus");
  if (cpus !== undefined && !(typeof cpus === "number" && cpus > 0 && cpus <= 1_024))
    reader.fault("cpus", "must be a number such as 0.5");
  const read = {
    image: reader.requiredText("image", { max: 500, pattern: image, words: "an image such as alpine:3" }),
    command: reader.list("command"),
    entrypoint: reader.list("entrypoint"),
    env: reader.texts("env"),
    // Names of secrets by variable.
    secretEnv,
    workdir: reader.text("workdir", { max: 4_096 }),
    network: reader.text("network", { max: 200, pattern: /^[\w.-]+$/, words: "the name of a network" }),
    memoryBytes: reader.whole("memory_bytes", 6_291_456, Number.MAX_SAFE_INTEGER),
    nanoCpus: typeof cpus === "number" ? Math.round(cpus * 1e9) : undefined,
    pull: reader.oneOf("pull", ["missing", "always", "never"]) ?? "missing",
    successCode: reader.whole("success_code", 0, 255) ?? 0,
    everyMs: reader.duration("poll_every", 60_000) ?? 1_000,
  };
  reader.end();
  return read;
}
