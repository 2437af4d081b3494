import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import type { LiveLine } from "../output/live-line.ts";
import type { LogSink } from "../output/logger.ts";
import type { OrphanGuard, RestartedProcess } from "./child.ts";
import type { RoleName } from "./run-role.ts";

/** Shared by the steps that start the service. */
export type SupervisorContext = {
  config: Config;
  environment: Record<string, string | undefined>;
  roles: RoleName[];
  logger: Logger;
  sink: LogSink;
  orphanGuard: OrphanGuard;
  /** Shows how far the start is. */
  progress: LiveLine;
  /** Aborted when the service is to stop. */
  signal: AbortSignal;
  /** A process exited because of its configuration: the service stops. */
  onConfigurationError: () => void;
  /** Processes are stopped stage by stage, the last stage first. */
  addStopStage: () => RestartedProcess[];
};

/** Whether this start runs an embedded database or local chains, which keep their data in `DATA_DIR`. */
export const usesDataDirectory = ({ database, localChains }: Config): boolean =>
  database.url === null || localChains;
