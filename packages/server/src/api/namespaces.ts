import { namespaceNameLength, readNamespaceCreate, readNamespacePatch } from "@carillon/contract";
import { type CarillonError, namespaceNamePattern } from "@carillon/core";
import type { NamespaceView } from "@carillon/engine";
import type { CallAnswer, Handlers } from "./http/call.js";
import type { ApiOptions } from "./http/handler.js";
import { wireNamespace } from "./wire/namespace.js";
import { contextOf } from "./job-changes.js";
import { notFound } from "./references.js";
import { nextPageToken, pageRequest } from "./http/list-page.js";

type NamespaceHandlers = Pick<Handlers, "listNamespaces" | "createNamespace" | "getNamespace" | "updateNamespace">;

const pattern = new RegExp(namespaceNamePattern);

export function namespaceHandlers({ engine }: ApiOptions): NamespaceHandlers {
  return {
    async listNamespaces({ query }) {
      const list = ["namespaces"];
      const page = await engine.listNamespaces(pageRequest(query, list, readNamespaceName));
      const namespaces = page.rows.map(wireNamespace);
      return { status: 200, body: { namespaces, next_page_token: nextPageToken(page, list) } };
    },
    async createNamespace({ body }) {
      const { name, weight } = readNamespaceCreate(body);
      const made = shown(await engine.createNamespace(name, weight));
      return { ...made, status: 201, headers: { ...made.headers, Location: `/v1/namespaces/${name}` } };
    },
    async getNamespace({ params }) {
      const found = await engine.getNamespace(nameOf(params.name));
      if (found === null) throw noNamespace(params.name);
      return shown(found);
    },
    async updateNamespace(call) {
      const change = readNamespacePatch(call.body);
      return shown(await engine.changeNamespace(nameOf(call.params.name), change, contextOf(call)));
    },
  };
}

/** A name of a namespace, or null for what cannot be one. */
export function readNamespaceName(text: string): string | null {
  return text.length <= namespaceNameLength && pattern.test(text) ? text : null;
}

export const noNamespace = (name: string): CarillonError => notFound(`There is no namespace ${JSON.stringify(name)}.`);

/** What cannot be a name names nothing. */
function nameOf(text: string): string {
  const name = readNamespaceName(text);
  if (name === null) throw noNamespace(text);
  return name;
}

function shown(namespace: NamespaceView): CallAnswer {
  return { status: 200, body: wireNamespace(namespace), headers: { ETag: `"v${namespace.version}"` } };
}
