import { pino } from "pino";
import { readConfig } from "../../api/config.ts";
import type { RoleContext } from "../../api/role.ts";
import { loadRole, type RoleName } from "../../api/supervisor/role-modules.ts";
import { pipelineSettings } from "../pipeline.ts";

/** A role of this process that is begun again whenever it fails, as the supervisor does with processes. */
export type KeptRole = {
  /** How often it was begun again: its lease is lost when the machine is busy for seconds. */
  restarts(): number;
  stop(): Promise<void>;
};

export async function keepRole(
  role: RoleName,
  options: Parameters<typeof pipelineSettings>[0],
): Promise<KeptRole> {
  const run = await loadRole(role);
  const ending = new AbortController();
  const context = await contextOf(role, options, ending.signal);
  const ended = new Promise<void>((resolve) => {
    ending.signal.addEventListener("abort", () => resolve());
  });
  let lives = 0;
  const keep = async () => {
    while (!ending.signal.aborted) {
      const life = await run(context);
      lives += 1;
      await Promise.race([life.failed.catch(() => undefined), ended]);
      await life.stop();
    }
  };
  const done = keep();
  return {
    restarts: () => lives - 1,
    async stop() {
      ending.abort();
      await done;
    },
  };
}

async function contextOf(
  role: RoleName,
  options: Parameters<typeof pipelineSettings>[0],
  signal: AbortSignal,
): Promise<RoleContext> {
  const config = readConfig(await pipelineSettings(options));
  const { url, readUrl } = config.database;
  const { recipient } = config.fees;
  if (url === null || readUrl === null || recipient === null)
    throw new Error("settings are missing");
  return {
    config: { ...config, database: { url, readUrl }, fees: { ...config.fees, recipient } },
    logger: pino({ level: "error" }).child({ part: role }),
    signal,
  };
}
