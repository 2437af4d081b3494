import process from "node:process";
import { parseArgs } from "node:util";
import type { Config } from "../config/config.ts";
import {
  ConfigurationError,
  configurationExitCode,
  readConfig,
  readEnvironment,
} from "../config/read-config.ts";
import { openLiveLine } from "../output/live-line.ts";
import { createLogger, openLogSink } from "../output/logger.ts";
import { mergeInstallation } from "./installation.ts";
import { type RoleName, roleNames, runRole } from "./run-role.ts";
import { supervise } from "./supervisor.ts";

type Variables = Record<string, string | undefined>;

/** npm and the terminal both forward one Ctrl-C; a later signal is taken as a second one after this time. */
const repeatedSignalMs = 1_000;

/** Parses the command line and runs all roles, or those named. Resolves with the exit code. */
async function run(argv: string[]): Promise<number> {
  try {
    const { only, name } = parseCommand(argv);
    const given = readEnvironment();
    const environment = only === undefined ? given : mergeInstallation(given);
    const config = readConfig(environment);
    const all = roleNames.filter((role) => role !== "console" || config.console.isOn);
    return await start(only ?? all, name, config, environment);
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n`);
    if (error instanceof UsageError) return 2;
    return error instanceof ConfigurationError ? configurationExitCode : 1;
  }
}

function start(
  roles: RoleName[],
  name: string | undefined,
  config: Config,
  environment: Variables,
): Promise<number> {
  const output = openLiveLine(process.stdout);
  const sink = openLogSink(config.log, output);
  const [role] = roles;
  if (role !== undefined && roles.length === 1) {
    const logger = createLogger(name ?? role, config.log.level, sink);
    return runRole(role, config, { logger, signal: listenToSignals().stop });
  }
  const logger = createLogger("supervisor", config.log.level, sink);
  return supervise(
    { config, environment, roles, logger, sink, progress: output },
    listenToSignals(),
  );
}

class UsageError extends Error {}

function parseCommand(argv: string[]): { only?: RoleName[]; name?: string | undefined } {
  const { values } = parseOptions(argv);
  if (values.only === undefined) return {};
  const named = new Set(values.only.split(",").map((part) => part.trim()));
  const roles = roleNames.filter((role) => named.delete(role));
  if (named.size > 0 || roles.length === 0) {
    throw new UsageError(`--only expects roles, comma-separated: ${roleNames.join(", ")}`);
  }
  return { only: roles, name: values.name };
}

function parseOptions(args: string[]) {
  try {
    // `--name` is set by the supervisor: the process's name in the log.
    const text = { type: "string" } as const;
    return parseArgs({ args, options: { only: text, name: text } });
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
}

/** The first signal, or the exit of the supervisor, requests an orderly stop; a second one kills everything. */
function listenToSignals(): { stop: AbortSignal; kill: AbortSignal } {
  const stop = new AbortController();
  const kill = new AbortController();
  let firstAt = 0;
  const onSignal = () => {
    if (firstAt === 0) firstAt = Date.now();
    else if (Date.now() - firstAt > repeatedSignalMs) {
      kill.abort();
      process.exit(1);
    }
    stop.abort();
  };
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, onSignal);
  process.once("disconnect", onSignal);
  return { stop: stop.signal, kill: kill.signal };
}

const messageOf = (error: unknown): string =>
  error instanceof ConfigurationError || error instanceof UsageError
    ? error.message
    : String(error instanceof Error ? error.stack : error);

process.exit(await run(process.argv.slice(2)));
