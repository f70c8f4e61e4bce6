import { Command, type Option } from "commander";
import type { CommandBody, CommandSpec, Commands, DescribedCommand, DescribedFlag } from "./command.js";

/** A noun with its verbs. Its file is loaded when one of them is called. */
export interface Noun {
  /** The line that `carillon --help` shows. */
  readonly summary: string;
  readonly commands: () => Promise<Commands>;
}

/** A command of one word. */
export interface OneWordCommand extends Pick<CommandSpec, "summary" | "changes"> {
  readonly command: () => Promise<CommandBody>;
}

const noun = (summary: string, commands: Noun["commands"]): Noun => ({ summary, commands });

/** Everything that may follow `carillon`, in the groups and the order of its help. */
export const groups: Readonly<Record<string, Readonly<Record<string, Noun | OneWordCommand>>>> = {
  "Start:": {
    dev: {
      summary: "everything in one process: database, scheduler, API and a worker",
      command: async () => (await import("./nouns/dev.js")).dev,
    },
    init: {
      summary: "create a project that runs: tasks, a job, a package.json",
      changes: true,
      command: async () => (await import("./nouns/init.js")).init,
    },
    import: noun("import jobs from other schedulers", async () => (await import("./nouns/import.js")).importCommands),
  },
  "Jobs and their runs:": {
    job: noun("create, change and list jobs", async () => (await import("./nouns/job.js")).jobCommands),
    run: noun("list, watch, cancel and repeat runs", async () => (await import("./nouns/run.js")).runCommands),
    task: noun("list tasks and run them without a job", async () => (await import("./nouns/task.js")).taskCommands),
    why: {
      summary: "explain why a job or a run does not run, or list everything that waits",
      command: async () => (await import("./nouns/why.js")).why,
    },
    top: {
      summary: "a live view: queues, rates, workers, runs",
      command: async () => (await import("./nouns/top.js")).top,
    },
    events: noun("follow events", async () => (await import("./nouns/events.js")).eventCommands),
  },
  "Failures:": {
    "dead-letter": noun(
      "list runs that failed for good, retry or discard them",
      async () => (await import("./nouns/dead-letter.js")).deadLetterCommands,
    ),
    "error-group": noun(
      "list the kinds of errors",
      async () => (await import("./nouns/dead-letter.js")).errorGroupCommands,
    ),
    webhook: noun(
      "notify other systems when runs end",
      async () => (await import("./nouns/webhook.js")).webhookCommands,
    ),
    mail: noun("read the mails that carillon dev caught", async () => (await import("./nouns/mail.js")).mailCommands),
  },
  "Bulk work:": {
    backfill: noun(
      "watch backfills and abort them",
      async () => (await import("./nouns/backfill.js")).backfillCommands,
    ),
    operation: noun(
      "watch bulk operations and abort them",
      async () => (await import("./nouns/operation.js")).operationCommands,
    ),
  },
  "Schedules:": {
    cron: noun("test cron expressions, offline", async () => (await import("./nouns/cron.js")).cronCommands),
    calendar: noun(
      "check calendars offline, list and change stored ones",
      async () => (await import("./nouns/calendar.js")).calendarCommands,
    ),
    window: noun("list and change maintenance windows", async () => (await import("./nouns/window.js")).windowCommands),
  },
  "Limits:": {
    queue: noun(
      "list queues, pause and purge them, set their order",
      async () => (await import("./nouns/queue.js")).queueCommands,
    ),
    limit: noun("list, set and delete limits", async () => (await import("./nouns/limit.js")).limitCommands),
    breaker: noun(
      "list circuit breakers and close them",
      async () => (await import("./nouns/breaker.js")).breakerCommands,
    ),
    namespace: noun(
      "create namespaces and set their weights",
      async () => (await import("./nouns/namespace.js")).namespaceCommands,
    ),
  },
  "Nodes and workers:": {
    worker: noun(
      "start workers, list, drain and cordon them",
      async () => (await import("./nouns/worker.js")).workerCommands,
    ),
    server: noun(
      "start a node, migrate its database, show its settings",
      async () => (await import("./nouns/server.js")).serverCommands,
    ),
    node: noun("list the nodes of the cluster", async () => (await import("./nouns/node.js")).nodeCommands),
    doctor: {
      summary: "check this machine and its database",
      command: async () => (await import("./nouns/server.js")).doctor,
    },
  },
  "This command line:": {
    login: {
      summary: "store the address and key of a server",
      changes: true,
      command: async () => (await import("./nouns/profile.js")).login,
    },
    profile: noun("choose between servers", async () => (await import("./nouns/profile.js")).profileCommands),
    api: {
      summary: "send one request to the API",
      changes: true,
      command: async () => (await import("./nouns/api.js")).api,
    },
    openapi: {
      summary: "print the OpenAPI document",
      command: async () => (await import("./nouns/openapi.js")).openapi,
    },
    completion: {
      summary: "print a script that completes commands in your shell",
      command: async () => (await import("./nouns/completion.js")).completionOf(describeAll),
    },
    version: {
      summary: "print versions",
      command: async () => (await import("./nouns/version.js")).version,
    },
  },
};

/** Every noun and every command of one word by its name. */
export const words: Readonly<Record<string, Noun | OneWordCommand>> = Object.assign({}, ...Object.values(groups));

/** Verbs that users of other products type, by noun. The help shows them beside the verb that they stand for. */
export const aliases: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  job: { delete: "cancel" },
};

export const isNoun = (word: Noun | OneWordCommand | undefined): word is Noun =>
  word !== undefined && "commands" in word;

export interface ListedCommand extends Pick<CommandSpec, "summary" | "changes"> {
  /** Noun and verb, or one word. */
  readonly path: readonly [string] | readonly [noun: string, verb: string];
  readonly load: () => Promise<CommandBody>;
}

/** Every command, in the order of the help. Loads the file of every noun. */
export async function allCommands(): Promise<readonly ListedCommand[]> {
  const listed = Object.entries(words).map(async ([name, word]): Promise<ListedCommand[]> => {
    if (!isNoun(word)) {
      const { summary, changes, command } = word;
      return [{ path: [name], summary, ...(changes && { changes }), load: command }];
    }
    return Object.entries(await word.commands()).map(([verb, spec]) => {
      const { summary, changes } = spec;
      return { path: [name, verb], summary, ...(changes && { changes }), load: () => bodyOf(spec) };
    });
  });
  return (await Promise.all(listed)).flat();
}

export async function bodyOf(spec: Commands[string]): Promise<CommandBody> {
  return "load" in spec ? spec.load() : spec;
}

/** Every command with its flags. Loads every module of the command line. */
async function describeAll(): Promise<DescribedCommand[]> {
  return Promise.all(
    (await allCommands()).map(async ({ path, summary, changes = false, load }) => {
      const described = new Command();
      (await load()).define?.(described);
      const flags = described.options.flatMap((option) => (option.hidden ? [] : describedFlag(option)));
      const choices = described.registeredArguments[0]?.argChoices ?? [];
      return { path, summary, changes, flags: [...flags, helpFlag], choices };
    }),
  );
}

const helpFlag: DescribedFlag = {
  long: "--help",
  short: "-h",
  summary: "show help",
  takesValue: false,
  choices: [],
};

function describedFlag({ long, short, description, required, optional, argChoices }: Option): DescribedFlag[] {
  if (!long) return [];
  const takesValue = required || optional;
  return [{ long, ...(short && { short }), summary: description, takesValue, choices: argChoices ?? [] }];
}
