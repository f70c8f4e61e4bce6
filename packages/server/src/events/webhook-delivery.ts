import { createHmac } from "node:crypto";

const prefix = "whsec_";
export const secretBytes = 32;

/** A secret in the form that Standard Webhooks gives it. */
export const secretOf = (bytes: Buffer): string => `${prefix}${bytes.toString("base64")}`;

export interface Signed {
  readonly id: string;
  /** Seconds. */
  readonly timestamp: number;
  readonly body: string;
}

/** The headers of Standard Webhooks. Several secrets give several signatures: the receiver takes any that it knows. */
export function signedHeaders({ id, timestamp, body }: Signed, secrets: readonly string[]): Record<string, string> {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.startsWith(prefix) ? secret.slice(prefix.length) : secret, "base64");
    return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`;
  });
  return {
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    ...(signatures.length > 0 && { "webhook-signature": signatures.join(" ") }),
  };
}
