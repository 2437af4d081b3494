import { createServer } from "node:net";
import { type Config, ConfigurationError, configurationExitCode } from "../config/config.ts";
import { makeDataDirectory } from "./data-directory.ts";
import type { RestartedProcess } from "./keep-running.ts";
import { startOrphanGuard } from "./orphan-guard.ts";
import { printReady } from "./print-ready.ts";
import { startService } from "./start-service.ts";
import { type SupervisorContext, usesDataDirectory } from "./supervisor-context.ts";

/** From the signal to the last process gone. */
const stopBudgetMs = 9_300;
/** Kept back for each stage that is still to stop. */
const stageReserveMs = 1_200;

/** Runs the parts until the signal, then stops them in reverse order. Settles with the exit code. */
export async function supervise(
  options: Omit<SupervisorContext, "leash" | "signal" | "addStage" | "refuse">,
  signals: { stop: AbortSignal; kill: AbortSignal },
): Promise<number> {
  const orphanGuard = startOrphanGuard();
  signals.kill.addEventListener("abort", () => orphanGuard.killAll());
  const refusal = new AbortController();
  const ended = AbortSignal.any([signals.stop, refusal.signal]);
  const stages: RestartedProcess[][] = [];
  const supervision: SupervisorContext = {
    ...options,
    orphanGuard: orphanGuard,
    signal: ended,
    onConfigurationError: () => refusal.abort(),
    addStopStage: () => {
      const stage: RestartedProcess[] = [];
      stages.push(stage);
      return stage;
    },
  };
  const working = serve(supervision);
  try {
    await Promise.race([working, untilAborted(ended)]);
  } finally {
    supervision.logger.info("stopping");
    const deadline = Date.now() + stopBudgetMs;
    await stopStages(stages, deadline);
    await working.catch(() => {});
    // What was being started when the signal came.
    await stopStages(stages, deadline);
  }
  return refusal.signal.aborted ? configurationExitCode : 0;
}

async function serve(supervision: SupervisorContext): Promise<void> {
  const { config, roles } = supervision;
  if (roles.includes("api")) await assertPortIsFree(config.http);
  if (usesDataDirectory(config)) makeDataDirectory(config.dataDir);
  printReady(supervision, await startService(supervision));
  await untilAborted(supervision.signal);
}

async function stopStages(stages: RestartedProcess[][], deadline: number): Promise<void> {
  for (const [stillToStop, stage] of [...stages.entries()].reverse()) {
    const timeoutMs = Math.max(500, deadline - Date.now() - stillToStop * stageReserveMs);
    await Promise.all(stage.map((part) => part.stop(timeoutMs)));
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
}

/** An address that is taken is the operator's to change; the API would fail on it again and again. */
async function assertPortIsFree({ host, port }: Config["http"]): Promise<void> {
  const server = createServer();
  const code = await new Promise<string | undefined>((resolve) => {
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, host, () => resolve(undefined));
  });
  if (code === "ENOTFOUND" || code === "EADDRNOTAVAIL") {
    throw new ConfigurationError([
      `HOST: expected a name or address of this machine, got ${JSON.stringify(host)} (${code}). Example: HOST=127.0.0.1`,
    ]);
  }
  if (code !== undefined) {
    const other = port === 65_535 ? port - 1 : port + 1;
    throw new ConfigurationError([
      `PORT: cannot listen on ${host} port ${port} (${code}). Example: PORT=${other}`,
    ]);
  }
  await new Promise((resolve) => server.close(resolve));
}
