import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** How to reach the embedded database of a data directory while some node runs it; null where there never was one. */
export async function embeddedUrl(dataDir: string): Promise<string | null> {
  try {
    const password = (await readFile(join(dataDir, "password"), "utf8")).trim();
    const server: unknown = JSON.parse(await readFile(join(dataDir, "server.json"), "utf8"));
    if (typeof server !== "object" || server === null || !("port" in server)) return null;
    return `postgresql://carillon:${encodeURIComponent(password)}@127.0.0.1:${String(server.port)}/carillon`;
  } catch {
    return null;
  }
}
