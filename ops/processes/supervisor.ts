import { accessSync, constants, mkdirSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ConfigurationError, configurationExitCode } from "../config/read-config.ts";
import { findFreePort, isFree } from "../free-port.ts";
import { type RestartedProcess, startOrphanGuard } from "./child.ts";
import { printReady } from "./print-ready.ts";
import { startService, withOperatorPorts } from "./start-service.ts";
import { type SupervisorContext, usesDataDirectory } from "./supervisor-context.ts";

/** From the signal to the exit of the last process: 10 s are promised, and a busy machine takes its time to end one. */
const stopBudgetMs = 6_500;
/** For what was started after the signal, however late it is. */
const lateStopMs = 5_000;
/** Reserved for each stage that is still to stop. */
const stageReserveMs = 1_200;

/** Runs the service until the signal, then stops it in reverse order. Resolves with the exit code. */
export async function supervise(
  options: Omit<
    SupervisorContext,
    "orphanGuard" | "signal" | "addStopStage" | "onConfigurationError"
  >,
  signals: { stop: AbortSignal; kill: AbortSignal },
): Promise<number> {
  const orphanGuard = startOrphanGuard();
  signals.kill.addEventListener("abort", () => orphanGuard.killAll());
  const configurationError = new AbortController();
  const stopping = AbortSignal.any([signals.stop, configurationError.signal]);
  const stages: RestartedProcess[][] = [];
  const context: SupervisorContext = {
    ...options,
    orphanGuard,
    signal: stopping,
    onConfigurationError: () => configurationError.abort(),
    addStopStage: () => {
      const stage: RestartedProcess[] = [];
      stages.push(stage);
      return stage;
    },
  };
  const working = serve(context);
  try {
    await Promise.race([working, untilAborted(stopping)]);
  } finally {
    context.progress.clear();
    context.logger.info("stopping");
    const deadline = Date.now() + stopBudgetMs;
    await stopStages(stages, deadline);
    await working.catch(() => {});
    // Processes that were being started when the signal came: a database that has no time recovers at its next start.
    await stopStages(stages, Math.max(deadline, Date.now() + lateStopMs));
  }
  return configurationError.signal.aborted ? configurationExitCode : 0;
}

async function serve(given: SupervisorContext): Promise<void> {
  const { roles } = given;
  if (roles.includes("api")) await assertPortsAreFree(given);
  const config = await withOperatorPorts(given.config, roles);
  const context = { ...given, config };
  if (usesDataDirectory(config)) makeDataDirectory(config.dataDir);
  printReady(context, await startService(context));
  await untilAborted(context.signal);
}

async function stopStages(stages: RestartedProcess[][], deadline: number): Promise<void> {
  for (const [remainingStages, stage] of [...stages.entries()].reverse()) {
    const timeoutMs = Math.max(500, deadline - Date.now() - remainingStages * stageReserveMs);
    await Promise.all(stage.map((process) => process.stop(timeoutMs)));
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
}

/** Checked before anything starts: the API would otherwise fail on a taken address at every restart. */
async function assertPortsAreFree(context: SupervisorContext): Promise<void> {
  const { http, console } = context.config;
  const used = [http.port, console.port, http.metricsPort];
  await assertPortIsFree("PORT", "HOST", { host: http.host, port: http.port, used }, context);
  if (console.port !== null) {
    const place = { host: console.host, port: console.port, used };
    await assertPortIsFree("OPERATOR_PORT", "OPERATOR_HOST", place, context);
  }
  if (http.metricsPort !== null && http.metricsPort !== console.port) {
    const place = { host: "127.0.0.1", port: http.metricsPort, used };
    await assertPortIsFree("METRICS_PORT", "HOST", place, context);
  }
}

/** `used`: ports that the configuration gives to something. */
type Place = { host: string; port: number; used: readonly (number | null)[] };

/** What a killed service had started has ended by then (`startOrphanGuard`), and a supervisor of it starts it at once. */
const leftoverMs = 12_000;
const leftoverLookMs = 200;

async function assertPortIsFree(
  setting: string,
  hostSetting: string,
  { host, port, used }: Place,
  context: Pick<SupervisorContext, "logger" | "signal">,
): Promise<void> {
  const code = await listenFault(host, port, context);
  if (code === "ENOTFOUND" || code === "EADDRNOTAVAIL") {
    throw new ConfigurationError([
      `${hostSetting}: expected a name or address of this machine, got ${JSON.stringify(host)} (${code}). Example: ${hostSetting}=127.0.0.1`,
    ]);
  }
  if (code !== undefined) {
    const other = await findPortBeside(host, port, used);
    throw new ConfigurationError([
      `${setting}: cannot listen on ${host} port ${port} (${code}). Example: ${setting}=${other}`,
    ]);
  }
}

/** Why nobody can listen there; a port that is taken is looked at for a while. */
async function listenFault(
  host: string,
  port: number,
  { logger, signal }: Pick<SupervisorContext, "logger" | "signal">,
): Promise<string | undefined> {
  const endsAt = performance.now() + leftoverMs;
  let code = await tryListening(host, port);
  if (code === "EADDRINUSE")
    logger.warn({ host, port, seconds: leftoverMs / 1_000 }, "port is taken, waiting for it");
  while (code === "EADDRINUSE" && !signal.aborted && performance.now() < endsAt) {
    await delay(leftoverLookMs);
    code = await tryListening(host, port);
  }
  return code;
}

async function tryListening(host: string, port: number): Promise<string | undefined> {
  const server = createServer();
  const code = await new Promise<string | undefined>((resolve) => {
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, host, () => resolve(undefined));
  });
  if (code === undefined) await new Promise((resolve) => server.close(resolve));
  return code;
}

/** Far enough for the ports of an instance or two beside this one. */
const farthest = 20;

/** One to set instead: neither taken nor set for something else. */
async function findPortBeside(host: string, port: number, used: Place["used"]): Promise<number> {
  const step = port > 65_535 - farthest ? -1 : 1;
  for (let other = port + step; other !== port + step * farthest; other += step) {
    if (!used.includes(other) && (await isFree(host, other))) return other;
  }
  return await findFreePort(host);
}

/** Creates `DATA_DIR`. Throws a configuration error when it cannot be created or written. */
export function makeDataDirectory(path: string): void {
  try {
    makeWithParents(path);
    accessSync(path, constants.W_OK | constants.X_OK);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    throw new ConfigurationError([
      `DATA_DIR: expected a directory that can be created and written, got ${JSON.stringify(path)} (${code}). Example: DATA_DIR=/var/lib/orders`,
    ]);
  }
}

/** Creates one directory at a time: Node's recursive mkdir never returns on a file system that refuses directories. */
function makeWithParents(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found !== undefined) {
    if (found.isDirectory()) return;
    throw Object.assign(new Error(`${path} is not a directory`), { code: "ENOTDIR" });
  }
  makeWithParents(dirname(path));
  mkdirSync(path);
}
