import type { NamespaceView, NamespaceChange } from "@carillon/store";
import type { Page, PageRequest, ChangeContext } from "../requests.js";

/** The tenants: every job, run, queue and worker belongs to one. */
export interface Namespaces {
  listNamespaces(page: PageRequest): Promise<Page<NamespaceView>>;
  getNamespace(name: string): Promise<NamespaceView | null>;
  /** Throws namespace_taken. */
  createNamespace(name: string, weight: number): Promise<NamespaceView>;
  /** Throws not_found, precondition_failed. Followed by every node within a second. */
  changeNamespace(name: string, change: NamespaceChange, context: ChangeContext): Promise<NamespaceView>;
}
