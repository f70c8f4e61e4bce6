import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { Agent } from "node:http";
import { Agent as SecureAgent } from "node:https";
import { delimiter, join } from "node:path";
import { type ExecutorHost, NonRetryableError } from "@carillon/worker";
import { findLibrary } from "../library.js";
import type { ApiAddress } from "../remote-api.js";

export interface Cluster {
  readonly namespace: string;
  /** With credentials that are valid now. */
  readonly address: () => Promise<ApiAddress>;
}

/** What is used of @kubernetes/client-node. It is an optional peer, so its types may not be there. */
interface ClientLibrary {
  readonly KubeConfig: new () => KubeConfig;
}

interface KubeConfig {
  loadFromFile(path: string): void;
  mergeConfig(other: KubeConfig): void;
  getCurrentContext(): string;
  getContextObject(name: string): { readonly namespace?: string } | null;
  getCurrentCluster(): { readonly server: string } | null;
  applyToHTTPSOptions(options: HttpsOptions): Promise<void>;
}

interface HttpsOptions {
  headers?: Record<string, string>;
  agent?: Agent;
  auth?: string;
}

const library = {
  name: "@kubernetes/client-node",
  version: "1",
  node22From: 2,
  neededBy: "The kubernetes executor with a kubeconfig",
};
const serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount";

/**
 * How to reach the cluster; the first of these that there is: CARILLON_KUBERNETES_URL (with CARILLON_KUBERNETES_CA_FILE and the secret
 * `kubernetes_token`), KUBECONFIG, the service account of the pod in which the worker runs, ~/.kube/config. A kubeconfig is read
 * by @kubernetes/client-node, with all its ways to authenticate; config_invalid if that is not installed. The answer opens the
 * cluster for one run.
 */
export function findCluster(host: ExecutorHost, cwd?: string): () => Promise<Cluster> {
  const { env } = host;
  const url = env["CARILLON_KUBERNETES_URL"] ?? "";
  if (url !== "") return () => clusterAt(url, host);
  const files = (env["KUBECONFIG"] ?? "").split(delimiter).filter((file) => file !== "");
  if (files.length > 0) return clusterIn(files, env, cwd);
  const service = env["KUBERNETES_SERVICE_HOST"] ?? "";
  if (service !== "") return () => clusterOfPod(service, env);
  const usual = join(env["HOME"] ?? env["USERPROFILE"] ?? "/", ".kube", "config");
  if (existsSync(usual)) return clusterIn([usual], env, cwd);
  return () =>
    Promise.reject(
      new NonRetryableError(
        "This worker knows no cluster: set CARILLON_KUBERNETES_URL or KUBECONFIG, or run it in a pod.",
      ),
    );
}

async function clusterAt(base: string, { env, secrets }: ExecutorHost): Promise<Cluster> {
  const file = env["CARILLON_KUBERNETES_CA_FILE"] ?? "";
  const agent = file === "" ? undefined : new SecureAgent({ ca: await readFile(file, "utf8") });
  const address = async (): Promise<ApiAddress> => ({
    base,
    headers: bearer(await secrets.find("kubernetes_token")),
    ...(agent !== undefined && { agent }),
  });
  return { namespace: namespaceOf(env), address };
}

async function clusterOfPod(host: string, env: ExecutorHost["env"]): Promise<Cluster> {
  const base = `https://${host.includes(":") ? `[${host}]` : host}:${env["KUBERNETES_SERVICE_PORT"] ?? "443"}`;
  const read = async (name: string): Promise<string> => (await readFile(`${serviceAccount}/${name}`, "utf8")).trim();
  const agent = new SecureAgent({ ca: await read("ca.crt") });
  // The kubelet replaces the token every hour or so, which a run may outlast.
  const address = async (): Promise<ApiAddress> => ({ base, agent, headers: bearer(await read("token")) });
  return { namespace: namespaceOf(env, await read("namespace")), address };
}

function clusterIn(files: readonly string[], env: ExecutorHost["env"], cwd?: string): () => Promise<Cluster> {
  const load = findLibrary<ClientLibrary>(library, { cwd });
  return async () => {
    const { KubeConfig } = await load();
    const config = new KubeConfig();
    for (const [index, file] of files.entries()) {
      const one = index === 0 ? config : new KubeConfig();
      one.loadFromFile(file);
      if (one !== config) config.mergeConfig(one);
    }
    const base = config.getCurrentCluster()?.server;
    if (base === undefined)
      throw new NonRetryableError(`${files.join(delimiter)} has no current context with a cluster.`);
    const address = async (): Promise<ApiAddress> => {
      const { headers, agent, auth } = await appliedOptions(config);
      const basic = auth === undefined ? {} : { authorization: `Basic ${Buffer.from(auth).toString("base64")}` };
      return { base, headers: { ...headers, ...basic }, ...(agent !== undefined && { agent }) };
    };
    return { namespace: namespaceOf(env, config.getContextObject(config.getCurrentContext())?.namespace), address };
  };
}

async function appliedOptions(config: KubeConfig): Promise<HttpsOptions> {
  const options: HttpsOptions = {};
  await config.applyToHTTPSOptions(options);
  return options;
}

function bearer(token: string | undefined): Record<string, string> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

function namespaceOf(env: ExecutorHost["env"], own?: string): string {
  return env["CARILLON_KUBERNETES_NAMESPACE"] ?? own ?? "default";
}
