import { type Cluster, type ClusterShards, openApiDocument } from "@carillon/contract";
import { formatId } from "@carillon/core";
import type { ClusterView, ShardView } from "@carillon/engine";
import { securityHeaders } from "./http/admission.js";
import { docsPage } from "./http/docs/page.js";
import { type ApiOptions, handlers, ok, timestamp } from "./http/handler.js";

export function metaHandlers({ health, metrics, version, instance, folder }: ApiOptions) {
  // Built at the first request: most nodes never serve their documentation.
  const document = once(() => openApiDocument(version));
  const page = once(() => docsPage(document()));
  return handlers({
    getLivez: () => ok({ status: "ok" }),
    async getReadyz() {
      const checks = await health.ready();
      const ready = checks.every((check) => check.ok);
      const body = {
        status: ready ? "ready" : "not_ready",
        checks: checks.map((check) => ({ name: check.name, ok: check.ok, detail: check.detail })),
      };
      return { status: ready ? 200 : 503, body };
    },
    async getMetrics() {
      return { status: 200, body: await metrics.render(), contentType: metrics.contentType };
    },
    getVersion: () =>
      ok({ name: "carillon", version, api: "v1", node: process.version, instance, folder: folder ?? null }),
    getOpenApi: () => ok(document()),
    getDocs: ({ origin }) => ({
      status: 200,
      body: page()(origin),
      contentType: "text/html; charset=utf-8",
      headers: { "Content-Security-Policy": `${securityHeaders["Content-Security-Policy"]}; script-src 'self'` },
    }),
  });
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}

export function clusterHandlers({ engine }: ApiOptions) {
  return handlers({
    async getCluster() {
      return ok(toClusterJson(await engine.cluster.get()));
    },
    async listClusterShards() {
      const { shards } = await engine.cluster.get();
      return ok({ shards: shards.map(toShardJson) });
    },
  });
}

function toClusterJson({ level, nodes, shards }: ClusterView): Cluster {
  return {
    level: {
      in_use: level.inUse,
      supported: level.ofThisVersion,
      held_back_by: nodes.filter((node) => node.level < level.ofThisVersion).map(({ id }) => formatId("node", id)),
    },
    nodes: nodes.map((node) => ({
      id: formatId("node", node.id),
      name: node.name,
      address: node.address,
      version: node.version,
      started_at: timestamp(node.startedAt),
      heartbeat_at: timestamp(node.heartbeatAt),
      level: node.level,
      silent_ms: node.silentMs,
      skew_ms: node.skewMs,
      takes_shards: node.takesShards,
      shards: node.shards,
    })),
    shards: { total: shards.length, owned: shards.filter((shard) => shard.owner !== null).length },
  };
}

function toShardJson({ id, owner, epoch }: ShardView): ClusterShards["shards"][number] {
  return { id, node_id: owner === null ? null : formatId("node", owner), epoch };
}
