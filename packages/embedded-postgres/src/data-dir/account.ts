import { readFile, stat } from "node:fs/promises";
import { EmbeddedPostgresError } from "../errors.js";

/** A user of the system under whom PostgreSQL runs. */
export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/**
 * PostgreSQL refuses to run as root. For root this is the user to become: whoever owns the database or the data
 * directory already, else `postgres`, else `nobody`. An ordinary user stays who they are (undefined).
 * Only users with an entry in the password file will do, because initdb looks itself up.
 */
export async function chooseAccount(dataDir: string): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const accounts = parsePasswd(await readFile("/etc/passwd", "utf8"));
  for (const path of [`${dataDir}/postgres`, dataDir]) {
    const uid = await stat(path).then(
      (found) => found.uid,
      () => 0,
    );
    const owner = accounts.find((account) => account.uid === uid && uid !== 0);
    if (owner) return owner;
  }
  for (const name of ["postgres", "nobody"]) {
    const account = accounts.find((candidate) => candidate.name === name && candidate.uid !== 0);
    if (account) return account;
  }
  throw new EmbeddedPostgresError(
    "embedded_user_missing",
    "PostgreSQL does not run as root, and this system has no user postgres or nobody to run it as. " +
      "Start Carillon as an ordinary user, or set CARILLON_DATABASE_URL to a PostgreSQL of your own.",
  );
}

export function parsePasswd(text: string): readonly Account[] {
  return text.split("\n").flatMap((line) => {
    const [name, , uid, gid] = line.split(":");
    if (!name || name.startsWith("#") || !/^-?\d+$/.test(uid ?? "") || !/^-?\d+$/.test(gid ?? "")) return [];
    // macOS writes nobody as -2, which the kernel sees as an unsigned number.
    return [{ name, uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 }];
  });
}
