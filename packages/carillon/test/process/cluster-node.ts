import { TcpProxy, type TcpProxyOptions } from "@carillon/testkit";
import { CarillonProcess, type Ended } from "./carillon-process.js";

export interface ClusterNodeOptions {
  readonly databaseUrl: string;
  /** Of the way between this node and the database. */
  readonly proxy?: TcpProxyOptions;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Deaths are noticed soon enough for a test. */
const SOON = ["--shard-lease", "1s", "--worker-timeout", "1s", "--shutdown-grace-period", "1s"];

/** One node of a cluster as a process of its own, with its own way to the database. */
export class ClusterNode {
  readonly name: string;
  readonly proxy: TcpProxy;
  readonly process: CarillonProcess;
  #url = "";

  static async start(name: string, options: ClusterNodeOptions): Promise<ClusterNode> {
    const proxy = await TcpProxy.start(options.databaseUrl, options.proxy);
    const url = proxy.through(options.databaseUrl);
    const common = ["--database-url", url, "--port", "0", "--node-name", name, ...SOON];
    const { env = {}, args = [] } = options;
    const process = new CarillonProcess(["server", "start", ...common, ...args], { env });
    const node = new ClusterNode(name, proxy, process);
    node.#url = (await process.line(/^carillon: listening on (\S+)$/))[1] ?? "";
    return node;
  }

  private constructor(name: string, proxy: TcpProxy, process: CarillonProcess) {
    this.name = name;
    this.proxy = proxy;
    this.process = process;
  }

  get url(): string {
    return this.#url;
  }

  /** How often it has logged an event so far. */
  count(event: string): number {
    return this.process.count(lineOf(event));
  }

  /** Resolves when the event was logged more often than `before` times. */
  async logged(event: string, before = 0): Promise<void> {
    while (this.count(event) <= before) await this.process.next();
  }

  async metric(name: string): Promise<number> {
    const text = await (await fetch(`${this.#url}/metrics`)).text();
    const lines = text.split("\n").filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
  }

  async kill(): Promise<void> {
    this.process.kill("SIGKILL");
    await this.process.ended;
  }

  freeze(): void {
    this.process.kill("SIGSTOP");
  }

  thaw(): void {
    this.process.kill("SIGCONT");
  }

  stop(): Promise<Ended> {
    return this.process.stop();
  }
}

const lineOf = (event: string): RegExp => new RegExp(`"msg":"${event.replaceAll(".", "\\.")}"`);
