import { type Namespace, readNamespaceCreate, readNamespacePatch } from "@carillon/contract";
import type { NamespaceView } from "@carillon/engine";
import { found } from "./http/errors.js";
import {
  type ApiOptions,
  type ApiResponse,
  contextOf,
  createdResponse,
  handlers,
  okWithVersion,
  type Replays,
  timestamp,
} from "./http/handler.js";
import { listOf } from "./http/paging.js";
import { noNamespace, readNamespaceName } from "./http/request.js";
import { toOwnLimitsJson } from "./limits.js";

const namespaceList = listOf("namespaces", toNamespaceJson, readNamespaceName);

export function namespaceHandlers({ engine }: ApiOptions) {
  return handlers({
    listNamespaces: ({ query }) => namespaceList(query, [], (page) => engine.namespaces.list(page)),
    async createNamespace({ body, receipt }) {
      const { name, weight } = readNamespaceCreate(body);
      return created(await engine.namespaces.create(name, weight, receipt));
    },
    async getNamespace({ params }) {
      const namespace = await engine.namespaces.get(nameOf(params.name));
      if (namespace === null) throw noNamespace(params.name);
      return shown(namespace);
    },
    async updateNamespace(call) {
      const change = readNamespacePatch(call.body);
      return shown(await engine.namespaces.change(nameOf(call.params.name), change, contextOf(call)));
    },
  });
}

/** The responses to repeated calls whose first response was not stored. */
export function namespaceReplays({ engine }: ApiOptions): Replays {
  return {
    async createNamespace({ namespace = "" }) {
      return created(found(await engine.namespaces.get(namespace), `There is no namespace ${namespace}.`));
    },
  };
}

const created = (namespace: NamespaceView): ApiResponse =>
  createdResponse(`/v1/namespaces/${namespace.name}`, shown(namespace));

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
