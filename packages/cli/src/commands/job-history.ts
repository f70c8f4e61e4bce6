import type { JobVersion, Occurrences } from "@carillon/contract";
import { Option } from "commander";
import { clientOf } from "../client.js";
import { type CommandModule, flagOption, textOption } from "../command.js";
import { listLimit, withListLimit } from "../flags.js";
import { jobArgument, withJobArgument } from "../job-flags.js";
import { outputForm, printList } from "../output.js";
import { runColumns } from "../output/run-view.js";
import type { Column } from "../table.js";

const versionColumns: readonly Column<JobVersion>[] = [
  { title: "VERSION", value: ({ version }) => String(version), align: "right" },
  { title: "FROM", value: (one) => one.valid_from },
  { title: "TO", value: (one) => one.valid_to },
  { title: "TASK", value: ({ definition }) => definition.task },
  { title: "SCHEDULE", value: ({ definition }) => definition.schedule },
];

const missedColumns: readonly Column<Occurrences>[] = [
  { title: "REASON", value: ({ reason }) => reason },
  { title: "FROM", value: ({ from }) => from },
  { title: "TO", value: ({ to }) => to },
  { title: "COUNT", value: ({ count }) => String(count), align: "right" },
  { title: "DETAIL", value: ({ detail }) => detail },
];

export const command: CommandModule = {
  define(target) {
    withListLimit(withJobArgument(target))
      .option("--status <list>", "only runs with these statuses, or groups such as finished")
      .addOption(
        new Option("--versions", "its definitions, and when each was in force").conflicts(["status", "missed"]),
      )
      .addOption(new Option("--missed", "occurrences that have no run, and why").conflicts("status"))
      .addHelpText(
        "after",
        `
Examples:
  $ carillon job history @nightly-report --status failed
  $ carillon job history @nightly-report --versions
  $ carillon job history @nightly-report --missed`,
      );
  },
  async run(io, invocation) {
    const { jobs } = clientOf(io, invocation);
    const name = jobArgument(invocation);
    const status = textOption(invocation, "status");
    const listing = { form: outputForm(invocation), limit: listLimit(invocation) };
    const query = (size: number, token: string | null) => ({
      page_size: size,
      ...(token !== null && { page_token: token }),
    });
    if (flagOption(invocation, "versions")) {
      return printList(io, {
        ...listing,
        columns: versionColumns,
        noun: "versions",
        async page(size, token) {
          const { versions, next_page_token: next } = await jobs.versions(name, query(size, token));
          return { rows: versions, next };
        },
      });
    }
    if (flagOption(invocation, "missed")) {
      return printList(io, {
        ...listing,
        columns: missedColumns,
        noun: "missed occurrences",
        async page(size, token) {
          const { occurrences, next_page_token: next } = await jobs.occurrences(name, query(size, token));
          return { rows: occurrences, next };
        },
      });
    }
    return printList(io, {
      ...listing,
      columns: runColumns,
      noun: "runs",
      async page(size, token) {
        const filter = status === undefined ? {} : { status };
        const { runs, next_page_token: next } = await jobs.runs(name, { ...query(size, token), ...filter });
        return { rows: runs, next };
      },
    });
  },
};
