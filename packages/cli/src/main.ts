import { type ExitCode, ExitCode as Codes, failureOf } from "./exit-codes.js";
import { buildProgram, helpAsFlag, welcome } from "./program.js";
import { endQuietlyOnClosedPipe, type Io, processIo } from "./io.js";
import { packageVersion } from "./package-version.js";

/** Runs one command line; every way to end is an exit code. */
export async function runCli(argv: readonly string[], io: Io): Promise<ExitCode> {
  let code: ExitCode = Codes.ok;
  try {
    if (argv.length === 0) {
      await io.out(welcome(packageVersion()));
      return code;
    }
    const program = buildProgram(io, (finished) => {
      code = finished;
    });
    await program.parseAsync([...(await helpAsFlag(argv))], { from: "user" });
    return code;
  } catch (error) {
    const failure = failureOf(error);
    if (failure.message !== null) io.info(`carillon: ${failure.message}`);
    return failure.exitCode;
  }
}

/** The entry of bin/carillon.js. */
export async function main(argv: readonly string[], extra: Pick<Io, "onImport"> = {}): Promise<void> {
  endQuietlyOnClosedPipe();
  process.exitCode = await runCli(argv, { ...processIo(), ...extra });
}
