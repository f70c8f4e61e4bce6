import { Writable } from "node:stream";
import { type Logger, pino } from "pino";
import type { Config } from "../config/options.js";
import { maskSecrets, redactedPaths } from "./mask-secrets.js";
import { prettyLine } from "./pretty-line.js";

export interface LogTarget {
  readonly stream: NodeJS.WritableStream;
  readonly isTerminal: boolean;
  readonly colour: boolean;
}

/** JSON lines for machines; on a terminal (or by choice) single readable lines. Written synchronously: a crash loses none. */
export function createLogger(config: Pick<Config, "logLevel" | "logFormat">, target: LogTarget): Logger {
  const pretty = config.logFormat === "pretty" || (config.logFormat === "auto" && target.isTerminal);
  const options = {
    level: config.logLevel,
    base: null,
    redact: { paths: redactedPaths, censor: "***" },
    hooks: { streamWrite: maskSecrets },
  };
  return pino(options, pretty ? prettyStream(target) : target.stream);
}

function prettyStream(target: LogTarget): Writable {
  return new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      const lines = String(chunk).trimEnd().split("\n");
      target.stream.write(`${lines.map((line) => prettyLine(line, target.colour)).join("\n")}\n`, () => done());
    },
  });
}
