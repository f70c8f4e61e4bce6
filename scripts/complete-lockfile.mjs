// Adds to a package-lock.json the platform packages that npm left out because the registry in use did not serve them (a mirror often lacks
// the binaries of other systems). Without an entry for each, `npm ci` refuses the lockfile on every system. The entries have version, os and
// cpu, so that npm fetches them only on their platform.
// Usage: node scripts/complete-lockfile.mjs [folder …]   (after npm install --package-lock-only)
import { readFileSync, writeFileSync } from "node:fs";

const SYSTEMS = {
  darwin: "darwin",
  linux: "linux",
  win32: "win32",
  windows: "win32",
  freebsd: "freebsd",
  android: "android",
  openharmony: "openharmony",
  netbsd: "netbsd",
  openbsd: "openbsd",
  sunos: "sunos",
  aix: "aix",
};
const CPUS = ["arm64", "x64", "ia32", "ppc64", "s390x", "riscv64", "loong64", "mips64el", "arm", "wasm32"];

function platformOf(name) {
  const words = name.split("/").pop().split("-");
  const system = words.map((word) => SYSTEMS[word]).find(Boolean);
  const cpu = words.includes("ppc64le") ? "ppc64" : CPUS.find((known) => words.includes(known));
  return { os: [system ?? "none"], cpu: [cpu ?? "none"] };
}

for (const folder of process.argv.slice(2).length ? process.argv.slice(2) : ["."]) {
  const path = `${folder}/package-lock.json`;
  const lock = JSON.parse(readFileSync(path, "utf8"));
  let added = 0;
  for (const [where, entry] of Object.entries(lock.packages)) {
    for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
      const found = [`${where}/node_modules/${name}`, `node_modules/${name}`].some((key) => lock.packages[key]);
      if (found) continue;
      const version = range.replace(/^[\^~]/, "");
      lock.packages[`node_modules/${name}`] = {
        version,
        ...platformOf(name),
        ...(entry.dev && { dev: true }),
        optional: true,
      };
      added += 1;
    }
  }
  lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
  console.log(`${path}: ${added} added`);
}
