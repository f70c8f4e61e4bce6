import type { TaskContext } from "@carillon/worker";
import type { KubernetesPayload } from "./kubernetes-payload.js";

export const containerName = "main";
/** A job that ended is kept for an hour, so that people can look at it. */
const keptSeconds = 3_600;

/** The Job that runs one attempt. Carillon retries, so the cluster does not. */
export function jobManifest(name: string, payload: KubernetesPayload, context: TaskContext): object {
  const { runId, attempt, fence, idempotencyKey } = context;
  const labels = {
    "app.kubernetes.io/managed-by": "carillon",
    "carillon.run": runId,
    "carillon.attempt": String(attempt),
  };
  const own = {
    CARILLON_RUN_ID: runId,
    CARILLON_ATTEMPT: String(attempt),
    CARILLON_FENCE: String(fence),
    CARILLON_IDEMPOTENCY_KEY: idempotencyKey,
  };
  const { image, command, args, serviceAccount, nodeSelector, requests, limits } = payload;
  const env = [
    ...Object.entries({ ...payload.env, ...own }).map(([key, value]) => ({ name: key, value })),
    ...Object.entries(payload.secretEnv).map(secretVariable),
  ];
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name, labels },
    spec: {
      backoffLimit: 0,
      ttlSecondsAfterFinished: keptSeconds,
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
              ...(command !== undefined && { command }),
              ...(args !== undefined && { args }),
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
