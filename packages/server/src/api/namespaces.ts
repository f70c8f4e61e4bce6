import { type Namespace, readNamespaceCreate, readNamespacePatch } from "@carillon/contract";
import type { NamespaceView } from "@carillon/engine";
import {
  type ApiOptions,
  type ApiResponse,
  contextOf,
  createdResponse,
  handlers,
  okWithVersion,
  timestamp,
} from "./http/handler.js";
import { listOf } from "./http/paging.js";
import { noNamespace, readNamespaceName } from "./http/request.js";
import { toOwnLimitsJson } from "./limits.js";

const namespaceList = listOf("namespaces", toNamespaceJson, readNamespaceName);

export function namespaceHandlers({ engine }: ApiOptions) {
  return handlers({
    listNamespaces: ({ query }) => namespaceList(query, [], (page) => engine.namespaces.list(page)),
    async createNamespace({ body }) {
      const { name, weight } = readNamespaceCreate(body);
      return createdResponse(`/v1/namespaces/${name}`, shown(await engine.namespaces.create(name, weight)));
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
  return okWithVersion(toNamespaceJson(namespace));
}

function toNamespaceJson({ name, weight, limits, version, createdAt, updatedAt }: NamespaceView): Namespace {
  const times = { created_at: timestamp(createdAt), updated_at: timestamp(updatedAt) };
  return { name, weight, ...toOwnLimitsJson(limits), version, ...times };
}
