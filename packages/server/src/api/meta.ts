import { openApiDocument } from "@carillon/contract";
import { docsPage } from "./http/docs-page.js";
import { type ApiOptions, handlers, ok } from "./http/handler.js";

export function metaHandlers({ health, metrics, version }: ApiOptions) {
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
        checks: checks.map(({ name, ok, detail }) => ({ name, ok, detail })),
      };
      return { status: ready ? 200 : 503, body };
    },
    async getMetrics() {
      return { status: 200, body: await metrics.render(), contentType: metrics.contentType };
    },
    getVersion: () => ok({ name: "carillon", version, api: "v1", node: process.version }),
    getOpenApi: () => ok(document()),
    getDocs: () => ({ status: 200, body: page(), contentType: "text/html; charset=utf-8" }),
  });
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}
