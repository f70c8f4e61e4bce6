import { TcpProxy } from "@carillon/testkit";
import { type Database, openDatabase } from "../../src/index.js";
import { hostPorts } from "./store-harness.js";

/** A database whose connections can be reset just before a statement arrives. */
export interface FrailDatabase {
  readonly proxy: TcpProxy;
  readonly database: Database;
  /** The next statement with this text in it meets a reset. */
  breakBefore(text: string): void;
  close(): Promise<void>;
}

export async function frailDatabase(url: string): Promise<FrailDatabase> {
  let unsent: string | null = null;
  const proxy = await TcpProxy.start(url, {
    filter: (chunk, from) => {
      if (from === "client" && unsent !== null && chunk.includes(unsent)) {
        unsent = null;
        proxy.cut();
      }
      return chunk;
    },
  });
  const database = await openDatabase({ url: proxy.through(url), schema: "carillon", ...hostPorts });
  return {
    proxy,
    database,
    breakBefore: (text) => void (unsent = text),
    async close() {
      await database.close();
      await proxy.close();
    },
  };
}
