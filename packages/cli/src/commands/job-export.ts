import type { Client } from "@carillon/client";
import { type Job, type JobCreate, plainDefinition } from "@carillon/contract";
import { Option } from "commander";
import { clientOf, withServerAddress } from "../client.js";
import type { CommandModule, Invocation } from "../command.js";
import { CliError, ExitCode } from "../exit-codes.js";
import { listFilter, withListFilter } from "../flags.js";
import type { Io } from "../io.js";
import { jobName } from "../job-flags.js";
import { loadYaml, renderYaml } from "../output.js";

const maxPageSize = 1_000;

export const command: CommandModule = {
  define(target) {
    withServerAddress(withListFilter(target.argument("[job...]", "keys or ids; without them, all that the flags name")))
      .addOption(new Option("-o, --output <form>", "how to print").choices(["yaml", "json", "jsonl"]).default("yaml"))
      .option("--json", "the same as -o json")
      .addHelpText(
        "after",
        `
Prints definitions, without what is usual anyway, as carillon job apply -f takes them. Jobs without a key, and jobs that fire no
more, are left out unless they are named.

Examples:
  $ carillon job export > jobs.yaml
  $ carillon job export -l app=billing -n 1000
  $ carillon job export @nightly-report --json`,
      );
  },
  async run(io, invocation) {
    const client = clientOf(io, invocation);
    const names = jobNames(io, invocation);
    const { jobs, left } = names.length > 0 ? await named(client, names) : await listed(io, client, invocation);
    const definitions = jobs.map(plainDefinition);
    await loadYaml();
    if (definitions.length > 0) await io.out(rendered(definitions, invocation));
    const withoutKey = definitions.filter(({ key }) => key === undefined).length;
    if (withoutKey > 0) io.info(`carillon: ${withoutKey} without a key: give it one before it is applied`);
    if (left > 0) io.info(`carillon: ${left} left out: they have no key, or fire no more`);
    if (definitions.length === 0) io.info("carillon: no jobs");
  },
};

function jobNames(io: Io, invocation: Invocation): readonly string[] {
  const names = invocation.args.flatMap((name) => (name === undefined ? [] : [jobName(name)]));
  if (names.length > 0 && Object.keys(listFilter(io, invocation)).length > 0)
    throw new CliError(ExitCode.usage, "name jobs, or say which ones by flags; not both");
  return names;
}

interface Found {
  readonly jobs: readonly Job[];
  readonly left: number;
}

async function named(client: Client, names: readonly string[]): Promise<Found> {
  const jobs: Job[] = [];
  for (const name of names) jobs.push(await client.jobs.get(name));
  return { jobs, left: 0 };
}

async function listed(io: Io, client: Client, invocation: Invocation): Promise<Found> {
  const limit = Number(invocation.options["limit"]);
  const jobs: Job[] = [];
  let left = 0;
  let token: string | null = null;
  do {
    const page: Awaited<ReturnType<Client["jobs"]["list"]>> = await client.jobs.list({
      ...listFilter(io, invocation),
      page_size: Math.min(maxPageSize, limit - jobs.length),
      ...(token !== null && { page_token: token }),
    });
    const lasting = page.jobs.filter(({ key, state }) => key !== null && (state === "active" || state === "paused"));
    left += page.jobs.length - lasting.length;
    jobs.push(...lasting);
    token = page.next_page_token;
  } while (token !== null && jobs.length < limit);
  return { jobs, left };
}

/** Documents one after the other, so that a file can be put together from several. */
function rendered(definitions: readonly JobCreate[], { options }: Invocation): string {
  if (options["json"] === true || options["output"] === "json") return `${JSON.stringify(definitions, null, 2)}\n`;
  if (options["output"] === "jsonl") return definitions.map((one) => `${JSON.stringify(one)}\n`).join("");
  return definitions.map((one) => renderYaml(one)).join("---\n");
}
