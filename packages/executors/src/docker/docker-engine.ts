import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { Agent as SecureAgent } from "node:https";
import { join } from "node:path";
import { type ExecutorHost, NonRetryableError } from "@carillon/worker";
import type { ApiAddress } from "../remote-api.js";

type Env = ExecutorHost["env"];

interface Endpoint {
  readonly host: string;
  /** Holds ca.pem, cert.pem and key.pem; null: TLS only if the host begins with https. */
  readonly certificates: string | null;
  readonly isUnverified?: boolean;
}

const defaultHost = "unix:///var/run/docker.sock";
/** The oldest version that current engines serve and that has all that is called here. */
const version = "v1.41";

/**
 * The engine that the `docker` command would use: DOCKER_HOST with DOCKER_TLS_VERIFY and DOCKER_CERT_PATH; else the context that
 * DOCKER_CONTEXT or the configuration of the command names; else the local socket.
 */
export async function dockerEngine(env: Env): Promise<ApiAddress> {
  return addressOf(await endpointOf(env));
}

async function endpointOf(env: Env): Promise<Endpoint> {
  const folder = env["DOCKER_CONFIG"] ?? join(env["HOME"] ?? env["USERPROFILE"] ?? "/", ".docker");
  const host = env["DOCKER_HOST"] ?? "";
  const isTls = (env["DOCKER_TLS_VERIFY"] ?? "") !== "";
  if (host !== "") return { host, certificates: isTls ? (env["DOCKER_CERT_PATH"] ?? folder) : null };
  const config = (await readJson(join(folder, "config.json"))) as { readonly currentContext?: string } | null;
  const context = env["DOCKER_CONTEXT"] ?? config?.currentContext ?? "default";
  return context === "" || context === "default"
    ? { host: defaultHost, certificates: null }
    : contextOf(context, join(folder, "contexts"));
}

interface ContextFile {
  readonly Endpoints?: { readonly docker?: { readonly Host?: string; readonly SkipTLSVerify?: boolean } };
}

/** The command keeps a context in a folder that is named by the hash of its name. */
async function contextOf(name: string, folder: string): Promise<Endpoint> {
  const id = createHash("sha256").update(name).digest("hex");
  const file = (await readJson(join(folder, "meta", id, "meta.json"))) as ContextFile | null;
  const { Host: host, SkipTLSVerify: isUnverified = false } = file?.Endpoints?.docker ?? {};
  if (host === undefined)
    throw new NonRetryableError(`This worker has no Docker context ${JSON.stringify(name)} with an endpoint.`);
  const certificates = join(folder, "tls", id, "docker");
  const isTls = isUnverified || existsSync(certificates);
  return { host, certificates: isTls ? certificates : null, isUnverified };
}

async function addressOf({ host, certificates, isUnverified = false }: Endpoint): Promise<ApiAddress> {
  const [, socketPath] = /^(?:unix|npipe):\/\/(.+)$/.exec(host) ?? [];
  if (socketPath !== undefined) return { base: `http://docker/${version}`, socketPath };
  const base = certificates === null ? host.replace(/^tcp:/, "http:") : host.replace(/^(?:tcp|http):/, "https:");
  if (!/^https?:\/\//.test(base) || !URL.canParse(base))
    throw new NonRetryableError("DOCKER_HOST must be unix:///path or tcp://host:port; for ssh://, forward the socket.");
  const address = { base: `${base.replace(/\/+$/, "")}/${version}` };
  return certificates === null ? address : { ...address, agent: await secureAgent(certificates, isUnverified) };
}

async function secureAgent(folder: string, isUnverified: boolean): Promise<SecureAgent> {
  const [ca, cert, key] = await Promise.all(
    ["ca.pem", "cert.pem", "key.pem"].map((name) => readIfThere(join(folder, name))),
  );
  return new SecureAgent({ ca, cert, key, rejectUnauthorized: !isUnverified });
}

async function readJson(path: string): Promise<unknown> {
  const text = await readIfThere(path);
  return text === undefined ? null : JSON.parse(text);
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR"))
      return undefined;
    throw error;
  }
}
