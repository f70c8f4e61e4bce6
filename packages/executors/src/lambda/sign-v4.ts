import { createHash, createHmac } from "node:crypto";
import type { Instant } from "@carillon/core";

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface Signable {
  readonly method: string;
  readonly url: URL;
  /** Names in lower case, without host. All are signed. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly region: string;
  readonly service: string;
  readonly at: Instant;
}

const algorithm = "AWS4-HMAC-SHA256";

/** The headers of a request with its Signature Version 4. */
export function signV4(request: Signable, credentials: Credentials): Record<string, string> {
  const { region, service, url, body, method } = request;
  const stamp = new Date(request.at).toISOString().replaceAll(/[-:]|\.\d{3}/g, "");
  const { sessionToken } = credentials;
  const headers: Record<string, string> = {
    ...request.headers,
    host: url.host,
    "x-amz-date": stamp,
    ...(sessionToken !== undefined && { "x-amz-security-token": sessionToken }),
  };
  const names = Object.keys(headers).sort();
  const signed = names.join(";");
  const lines = names.map((name) => `${name}:${(headers[name] ?? "").trim().replaceAll(/ +/g, " ")}\n`).join("");
  const canonical = [method, pathOf(url), queryOf(url), lines, signed, sha256(body)].join("\n");
  const scope = `${stamp.slice(0, 8)}/${region}/${service}/aws4_request`;
  const toSign = [algorithm, stamp, scope, sha256(canonical)].join("\n");
  const key = [stamp.slice(0, 8), region, service, "aws4_request"].reduce<string | Buffer>(
    (secret, part) => hmac(secret, part),
    `AWS4${credentials.secretAccessKey}`,
  );
  const signature = hmac(key, toSign).toString("hex");
  const authorization = `${algorithm} Credential=${credentials.accessKeyId}/${scope}, SignedHeaders=${signed}, Signature=${signature}`;
  return { ...headers, authorization };
}

/** Each part escaped once more than it is sent, as every service but S3 wants it. */
function pathOf(url: URL): string {
  return url.pathname.split("/").map(escaped).join("/");
}

function queryOf(url: URL): string {
  const pairs = [...url.searchParams].map(([name, value]) => [escaped(name), escaped(value)] as const);
  return pairs
    .sort(([a, x], [b, y]) => (a < b || (a === b && x < y) ? -1 : 1))
    .map((pair) => pair.join("="))
    .join("&");
}

function escaped(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
