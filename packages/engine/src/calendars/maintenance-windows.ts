import { CarillonError, checkWindow, type MaintenanceWindow } from "@carillon/core";
import type { WindowView } from "@carillon/store";
import type { EngineContext } from "../context.js";
import { type ChangeContext, type Page, type PageRequest, toPage } from "../requests.js";

export type MaintenanceWindowsContext = Pick<EngineContext, "inNamespace" | "store" | "wakeups">;

/** The maintenance windows of a namespace, by name. The schedulers of all nodes read them again after a change. */
export class MaintenanceWindows {
  readonly #context: MaintenanceWindowsContext;

  constructor(context: MaintenanceWindowsContext) {
    this.#context = context;
  }

  list(namespace: string, { pageSize, after }: PageRequest): Promise<Page<WindowView>> {
    const { store, inNamespace } = this.#context;
    return inNamespace(namespace, async (id) => {
      const rows = await store.windows.list(id, after ?? null, pageSize + 1);
      return toPage(rows, pageSize, ({ window }) => window.name);
    });
  }

  get(namespace: string, name: string): Promise<WindowView | null> {
    return this.#context.inNamespace(namespace, (id) => this.#context.store.windows.find(id, name));
  }

  /** Throws maintenance_window_invalid. */
  put(
    namespace: string,
    window: MaintenanceWindow,
    _context: ChangeContext,
  ): Promise<{ readonly window: WindowView; readonly created: boolean }> {
    const { store, inNamespace, wakeups } = this.#context;
    return inNamespace(namespace, async (id) => {
      const put = await store.windows.put(id, inScope(window, namespace));
      wakeups.broadcast("windows");
      return put;
    });
  }

  /** false: there is none. */
  delete(namespace: string, name: string, _context: ChangeContext): Promise<boolean> {
    const { store, inNamespace, wakeups } = this.#context;
    return inNamespace(namespace, async (id) => {
      const isDeleted = await store.windows.delete(id, name);
      if (isDeleted) wakeups.broadcast("windows");
      return isDeleted;
    });
  }
}

/** A window covers jobs of its own namespace only. Throws maintenance_window_invalid. */
function inScope(window: MaintenanceWindow, namespace: string): MaintenanceWindow {
  const { scope } = window;
  if (scope.namespace !== undefined && scope.namespace !== namespace) {
    const detail = `A window of the namespace "${namespace}" cannot cover jobs of "${scope.namespace}": store it there.`;
    throw invalid([{ pointer: "/scope/namespace", code: "maintenance_window_invalid", detail }]);
  }
  const scoped = { ...window, scope: { ...scope, namespace } };
  const problems = checkWindow(scoped);
  if (problems.length > 0) throw invalid(problems);
  return scoped;
}

function invalid(items: ReturnType<typeof checkWindow>): CarillonError {
  const [first] = items;
  const text = first === undefined ? "The window is not valid." : `${first.pointer}: ${first.detail}`;
  return new CarillonError("maintenance_window_invalid", text, { items });
}
