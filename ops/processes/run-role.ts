import { setFlagsFromString } from "node:v8";
import type { Logger } from "pino";
import { openCallMeter } from "#jobs/outgoing-calls.ts";
import { withinMs } from "#jobs/runner/limits.ts";
import type { Config } from "../config/config.ts";
import { ConfigurationError } from "../config/read-config.ts";
import { assertLogin } from "../postgres/answering-server.ts";
import { type RoleConfig, type RoleContext, type RunningRole, roleDatabase } from "./roles/role.ts";

/** Runs one role in this process until the signal, or until it fails. Resolves with the exit code. */
export async function runRole(
  name: RoleName,
  config: Config,
  { logger, signal }: { logger: Logger; signal: AbortSignal },
): Promise<number> {
  // V8 lets a small heap grow fourfold between two collections, this one of 60 MB to 230 in a backfill. Set here, so
  // that a unit or a container which starts Node itself needs no flag for it.
  if (name === "projector") setFlagsFromString("--heap-growing-percent=100");
  const run = await loadRole(name);
  const context = { config: roleConfig(config, name), logger, signal };
  const { url } = context.config.database;
  // A supervisor has logged in itself; what is wrong later is waited for.
  if (process.send === undefined) await assertLogin(addressSetting(config, name), url);
  const meter = openCallMeter({ url, role: name, logger });
  const running = await run(context);
  const stopped = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve());
  });
  const ready = running.ready.then(() => {
    // The supervisor shows when all of its processes are ready.
    if (process.send === undefined) logger.info("process ready");
    else process.send({ ready: true });
  });
  const stop = async () => {
    await running.stop();
    await meter.stop();
  };
  try {
    await Promise.race([Promise.all([ready, stopped]), stopped, running.failed]);
  } catch (error) {
    logger.error({ err: error }, "process failed");
    await stopInTime(stop, logger);
    return 1;
  }
  await stop();
  return 0;
}

/** The setting that a role has the address of its database from. */
const addressSetting = ({ database }: Config, name: RoleName): string =>
  database.url !== null && database.processUrls[name] !== null
    ? `DATABASE_URL_${name.toUpperCase()}`
    : "DATABASE_URL";

/** A role that runs alone needs the addresses of its database and chains in its settings. */
function roleConfig(config: Config, name: RoleName): RoleConfig {
  const url = config.database.processUrls[name] ?? config.database.url;
  const { bps, recipient } = config.fees;
  const problems: string[] = [];
  const requireSetting = (value: unknown, name: string, example: string) => {
    if (value !== null) return;
    problems.push(
      `${name}: required when a role runs alone, unless \`npm start\` runs in the same DATA_DIR. ` +
        `Example: ${name}=${example}`,
    );
  };
  requireSetting(url, "DATABASE_URL", "postgres://user:password@localhost:5432/orders");
  requireSetting(config.localChains ? null : true, "RPC_URL_1", "https://rpc.example.com/key");
  requireSetting(recipient, "FEE_RECIPIENT", "0x00000000000000000000000000000000000fee01");
  if (url === null || recipient === null || problems.length > 0) {
    throw new ConfigurationError(problems);
  }
  return { ...config, database: roleDatabase(config.database, url), fees: { bps, recipient } };
}

type RunRole = (context: RoleContext) => Promise<RunningRole>;

/** A role's module is loaded only by the process that runs it. */
const modules = {
  indexer: async () => (await import("./roles/indexer.ts")).runRole,
  projector: async () => (await import("./roles/projector.ts")).runRole,
  jobs: async () => (await import("./roles/jobs.ts")).runRole,
  api: async () => (await import("./roles/api.ts")).runRole,
  console: async () => (await import("./roles/console.ts")).runRole,
} satisfies Record<string, () => Promise<RunRole>>;

export type RoleName = keyof typeof modules;

/** In start order. */
export const roleNames = Object.keys(modules) as RoleName[];

export const loadRole = (name: RoleName): Promise<RunRole> => modules[name]();

/** A role that failed stops within this time, or is left as it is: the process ends anyway. */
const stopMs = 5_000;

/**
 * Waits for the stop of a role that failed, but not for ever: closing a pool waits for statements that a database which
 * vanished without a word never answers, and nobody would start the process again.
 */
async function stopInTime(stop: () => Promise<void>, logger: Logger): Promise<void> {
  await withinMs(stopMs, stop(), () => {
    logger.warn({ stopMs }, "failed role did not stop in time");
  });
}
