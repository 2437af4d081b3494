import { pino } from "pino";
import { loadRole, type RoleName } from "#ops/processes/run-role.ts";
import { pipelineConfig } from "../support/database/pipeline.ts";

/** A role in this process that is restarted whenever it fails, as the supervisor does with processes. */
export type RestartingRole = {
  /** How often it was restarted: its lease is lost when the machine is busy for seconds. */
  restarts(): number;
  stop(): Promise<void>;
};

export async function openRestartingRole(
  role: RoleName,
  options: Parameters<typeof pipelineConfig>[0],
): Promise<RestartingRole> {
  const run = await loadRole(role);
  const ending = new AbortController();
  const config = await pipelineConfig(options);
  const logger = pino({ level: "error" }).child({ part: role });
  const context = { config, logger, signal: ending.signal };
  const ended = new Promise<void>((resolve) => {
    ending.signal.addEventListener("abort", () => resolve());
  });
  let starts = 0;
  const runUntilStopped = async () => {
    while (!ending.signal.aborted) {
      const running = await run(context);
      starts += 1;
      await Promise.race([running.failed.catch(() => undefined), ended]);
      await running.stop();
    }
  };
  const done = runUntilStopped();
  return {
    restarts: () => starts - 1,
    async stop() {
      ending.abort();
      await done;
    },
  };
}
