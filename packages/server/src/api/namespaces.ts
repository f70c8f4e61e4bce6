import { type Namespace, readNamespaceCreate, readNamespacePatch } from "@carillon/contract";
import type { NamespaceView } from "@carillon/engine";
import { type ApiOptions, type ApiResponse, contextOf, handlers } from "./http/handler.js";
import { nextPageToken, pageRequest } from "./http/paging.js";
import { noNamespace, readNamespaceName } from "./http/request.js";
import { toOwnLimitsJson } from "./limits.js";
import { timestamp } from "./timestamp.js";

export function namespaceHandlers({ engine }: ApiOptions) {
  return handlers({
    async listNamespaces({ query }) {
      const list = ["namespaces"];
      const page = await engine.namespaces.list(pageRequest(query, list, readNamespaceName));
      const namespaces = page.rows.map(toNamespaceJson);
      return { status: 200, body: { namespaces, next_page_token: nextPageToken(page, list) } };
    },
    async createNamespace({ body }) {
      const { name, weight } = readNamespaceCreate(body);
      const made = shown(await engine.namespaces.create(name, weight));
      return { ...made, status: 201, headers: { ...made.headers, Location: `/v1/namespaces/${name}` } };
    },
    async getNamespace({ params }) {
      const found = await engine.namespaces.get(nameOf(params.name));
      if (found === null) throw noNamespace(params.name);
      return shown(found);
    },
    async updateNamespace(call) {
      const change = readNamespacePatch(call.body);
      return shown(await engine.namespaces.change(nameOf(call.params.name), change, contextOf(call)));
    },
  });
}

function nameOf(text: string): string {
  const name = readNamespaceName(text);
  if (name === null) throw noNamespace(text);
  return name;
}

function shown(namespace: NamespaceView): ApiResponse {
  return { status: 200, body: toNamespaceJson(namespace), headers: { ETag: `"v${namespace.version}"` } };
}

function toNamespaceJson({ name, weight, limits, version, createdAt, updatedAt }: NamespaceView): Namespace {
  const times = { created_at: timestamp(createdAt), updated_at: timestamp(updatedAt) };
  return { name, weight, ...toOwnLimitsJson(limits), version, ...times };
}
