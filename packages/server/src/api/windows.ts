import { readWindowPut } from "@carillon/contract";
import type { Handlers } from "./http/call.js";
import type { ApiOptions } from "./http/handler.js";
import { wireWindow } from "./wire/calendars.js";
import { contextOf } from "./job-changes.js";
import { notFound } from "./references.js";
import { nextPageToken, pageRequest } from "./http/list-page.js";
import { nameOrNotFound, readName } from "./plain-name.js";

type WindowHandlers = Pick<Handlers, "listWindows" | "getWindow" | "putWindow" | "deleteWindow">;

export function windowHandlers({ engine }: ApiOptions): WindowHandlers {
  return {
    async listWindows({ query, namespace }) {
      const list = ["windows", namespace];
      const page = await engine.listWindows(namespace, pageRequest(query, list, readName));
      const body = { maintenance_windows: page.rows.map(wireWindow), next_page_token: nextPageToken(page, list) };
      return { status: 200, body };
    },
    async getWindow({ params, namespace }) {
      const window = await engine.getWindow(namespace, nameOrNotFound(params.name, "maintenance window"));
      if (window === null) throw notFound(`There is no maintenance window ${params.name}.`);
      return { status: 200, body: wireWindow(window) };
    },
    async putWindow(call) {
      const { namespace, params } = call;
      const wanted = readWindowPut(params.name, namespace, call.body);
      const { window, created } = await engine.putWindow(namespace, wanted, contextOf(call));
      const body = wireWindow(window);
      if (!created) return { status: 200, body };
      return { status: 201, body, headers: { Location: `/v1/maintenance-windows/${params.name}` } };
    },
    async deleteWindow(call) {
      const name = nameOrNotFound(call.params.name, "maintenance window");
      const isGone = await engine.deleteWindow(call.namespace, name, contextOf(call));
      if (!isGone) throw notFound(`There is no maintenance window ${name}.`);
      return { status: 204 };
    },
  };
}
