import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import type { LogSink } from "../logger.ts";
import type { RestartedProcess } from "./keep-running.ts";
import type { OrphanGuard } from "./orphan-guard.ts";
import type { RoleName } from "./role-modules.ts";

/** What bringing the parts up needs to know and to tell. */
export type SupervisorContext = {
  config: Config;
  environment: Record<string, string | undefined>;
  roles: RoleName[];
  logger: Logger;
  sink: LogSink;
  orphanGuard: OrphanGuard;
  /** Aborted when everything is to end. */
  signal: AbortSignal;
  /** A part cannot work with the configuration: everything ends. */
  onConfigurationError: () => void;
  /** Parts are stopped stage by stage, the last stage first. */
  addStopStage: () => RestartedProcess[];
};

/** Whether this start keeps something in `DATA_DIR`: its own database or its own chains. */
export const usesDataDirectory = ({ database, localChains }: Config): boolean =>
  database.url === null || localChains;
