import { present } from "@carillon/core";
import { PayloadReader, type TaskContext } from "@carillon/worker";
import { runVariables } from "../run-environment.js";

const resourceName = {
  max: 253,
  pattern: /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/,
  words: "a name of lower-case letters, digits, - and .",
};
const secretKey = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?\/[\w.-]+$/;

export type KubernetesPayload = ReturnType<typeof readKubernetesPayload>;

/** Throws a PayloadError that names every fault. */
export function readKubernetesPayload(payload: unknown) {
  const reader = new PayloadReader("kubernetes", payload);
  const resources = reader.object("resources");
  const secretEnv = reader.texts("secret_env");
  for (const [variable, place] of Object.entries(secretEnv))
    if (!secretKey.test(place)) reader.fault("secret_env", `must name secret/key at ${variable}`);
  const read = {
    image: reader.requiredText("image", { max: 500, pattern: /^[\w.\-/:@]+$/, words: "an image such as alpine:3" }),
    command: reader.list("command"),
    args: reader.list("args"),
    env: reader.texts("env"),
    // Variables from secrets of the cluster: `secret/key` by variable.
    secretEnv,
    serviceAccount: reader.text("service_account", resourceName),
    nodeSelector: reader.texts("node_selector"),
    requests: resources?.texts("requests") ?? {},
    limits: resources?.texts("limits") ?? {},
    everyMs: reader.duration("poll_every", 60_000) ?? 2_000,
  };
  reader.end();
  return read;
}

export const containerName = "main";
/** How long the cluster keeps a Job that ended, for inspection. */
const retentionSeconds = 3_600;

/** The Job of one attempt. Carillon retries it, so the cluster does not. */
export function jobManifest(name: string, payload: KubernetesPayload, context: TaskContext): object {
  const { runId, attempt } = context;
  const labels = {
    "app.kubernetes.io/managed-by": "carillon",
    "carillon.run": runId,
    "carillon.attempt": String(attempt),
  };
  const { image, command, args, serviceAccount, nodeSelector, requests, limits } = payload;
  const env = [
    ...Object.entries({ ...payload.env, ...runVariables(context) }).map(([key, value]) => ({ name: key, value })),
    ...Object.entries(payload.secretEnv).map(secretVariable),
  ];
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name, labels },
    spec: {
      backoffLimit: 0,
      ttlSecondsAfterFinished: retentionSeconds,
      template: {
        metadata: { labels },
        spec: {
          restartPolicy: "Never",
          ...(serviceAccount !== undefined && { serviceAccountName: serviceAccount }),
          ...(Object.keys(nodeSelector).length > 0 && { nodeSelector }),
          containers: [
            {
              name: containerName,
              image,
              ...present({ command, args }),
              env,
              resources: { requests, limits },
            },
          ],
        },
      },
    },
  };
}

function secretVariable([name, place]: readonly [string, string]): object {
  const [secret = "", key = ""] = place.split("/");
  return { name, valueFrom: { secretKeyRef: { name: secret, key } } };
}
