import { realpathSync, statSync } from "node:fs";
import module from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { MessageChannel, type MessagePort, receiveMessageOnPort } from "node:worker_threads";

/** A file that the user's module imports, itself included, as it was when it was imported. */
export interface ImportedFile {
  readonly path: string;
  /** Null if there is no such file: the import failed. */
  readonly mtimeMs: number | null;
}

type Report = (file: ImportedFile) => void;

/** Carillon itself is not the user's source. */
const ownPackages = /^(?:carillon|@carillon\/[^/]+)(?:\/|$)/;

/** The graph of imports from an entry: its own files and those of linked packages, without what is installed in node_modules. */
export class ImportTrace {
  readonly #report: Report;
  readonly #urls: Set<string>;

  constructor(entry: string, report: Report) {
    this.#report = report;
    // Node resolves symbolic links.
    const path = realpathSync(entry);
    this.#urls = new Set([pathToFileURL(path).href]);
    this.#report(importedFile(path));
  }

  /** `url` is null if the import failed. */
  resolved(specifier: string, parent: string | undefined, url: string | null): void {
    if (parent === undefined || !this.#urls.has(plain(parent))) return;
    if (url !== null && ownPackages.test(specifier)) return;
    const target = url === null ? expected(specifier, plain(parent)) : plain(url);
    const isInstalled = url !== null && target?.includes("/node_modules/");
    if (target === null || !target.startsWith("file:") || isInstalled || this.#urls.has(target)) return;
    this.#urls.add(target);
    this.#send(target);
  }

  #send(url: string): void {
    const path = fileURLToPath(url);
    this.#report(importedFile(path));
  }
}

export function importedFile(path: string): ImportedFile {
  return { path, mtimeMs: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null };
}

const plain = (url: string): string => url.replace(/[?#].*$/, "");

/** Where a file would have to be for the import to succeed: that of the module, or the manifest of the package once it is installed. */
function expected(specifier: string, parent: string): string | null {
  if (/^(?:\.|\/|file:)/.test(specifier))
    return URL.canParse(specifier, parent) ? plain(new URL(specifier, parent).href) : null;
  const [name] = /^(?:@[\w.-]+\/)?[\w-][\w.-]*(?=$|\/)/.exec(specifier) ?? [];
  return name === undefined
    ? null
    : pathToFileURL(join(projectFolder(parent), "node_modules", name, "package.json")).href;
}

/** The folder in which npm installs packages for the module. */
function projectFolder(url: string): string {
  const own = dirname(fileURLToPath(url));
  for (let folder = own; folder !== dirname(folder); folder = dirname(folder))
    if (statSync(join(folder, "package.json"), { throwIfNoEntry: false }) !== undefined) return folder;
  return own;
}

interface ResolveContext {
  readonly parentURL?: string | undefined;
}
interface Resolved {
  readonly url: string;
}
interface SyncHooks {
  readonly resolve: (
    specifier: string,
    context: ResolveContext,
    next: (specifier: string, context: ResolveContext) => Resolved,
  ) => Resolved;
}

/**
 * Reports each file as it is imported. Returns a function for the end of the import, which reports the rest: Node before 22.15 has hooks
 * only in a thread of their own, whose messages wait, and which does not see require().
 */
export function traceImports(entry: string, report: Report): () => void {
  const { registerHooks } = module as { registerHooks?: (hooks: SyncHooks) => unknown };
  if (registerHooks === undefined) return traceFromThread(entry, report);
  const trace = new ImportTrace(entry, report);
  const hooks: SyncHooks = {
    resolve(specifier, context, next) {
      try {
        const found = next(specifier, context);
        trace.resolved(specifier, context.parentURL, found.url);
        return found;
      } catch (error) {
        trace.resolved(specifier, context.parentURL, null);
        throw error;
      }
    },
  };
  registerHooks(hooks);
  return () => undefined;
}

interface ThreadData {
  readonly entry: string;
  readonly port: MessagePort;
}

function traceFromThread(entry: string, report: Report): () => void {
  const { port1, port2 } = new MessageChannel();
  const data: ThreadData = { entry, port: port2 };
  module.register(import.meta.url, { data, transferList: [port2] });
  port1.on("message", report);
  port1.unref();
  return () => {
    for (let waiting = receiveMessageOnPort(port1); waiting !== undefined; waiting = receiveMessageOnPort(port1))
      report(waiting.message as ImportedFile);
    for (const path of requiredFiles()) report(importedFile(path));
  };
}

function requiredFiles(): string[] {
  const { cache } = module.createRequire(import.meta.url);
  return Object.keys(cache).filter((path) => !/[\\/]node_modules[\\/]/.test(path));
}

let threadTrace: ImportTrace | null = null;

/** Node calls this in the thread of the hooks. */
export function initialize({ entry, port }: ThreadData): void {
  threadTrace = new ImportTrace(entry, (file) => port.postMessage(file));
}

/** A hook in the thread of the hooks. */
export async function resolve(
  specifier: string,
  context: ResolveContext,
  next: (specifier: string, context: ResolveContext) => Promise<Resolved>,
): Promise<Resolved> {
  try {
    const found = await next(specifier, context);
    threadTrace?.resolved(specifier, context.parentURL, found.url);
    return found;
  } catch (error) {
    threadTrace?.resolved(specifier, context.parentURL, null);
    throw error;
  }
}
