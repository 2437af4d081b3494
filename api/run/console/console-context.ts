import type { Logger } from "pino";
import type { Database } from "#projections/log/database.ts";
import type { FetchChainHead } from "../inspection/fetch-chain-head.ts";
import type { InspectedConfig } from "../inspection/inspected-config.ts";
import type { RunOperation } from "./actions/run-operation.ts";
import type { ReadProblems } from "./reads/problems.ts";
import type { ReadProcesses } from "./reads/processes.ts";
import type { MeasureRebuilds } from "./reads/rebuild-pace.ts";

/** What pages and actions of the console work with. */
export type ConsoleContext = {
  readonly db: Database;
  readonly config: InspectedConfig;
  readonly fetchHead: FetchChainHead;
  readonly readProblems: ReadProblems;
  readonly measureRebuilds: MeasureRebuilds;
  readonly logger: Logger;
  readonly now: () => Date;
  /** Null where no supervisor runs commands for this process. */
  readonly runOperation: RunOperation | null;
  /** Null likewise. */
  readonly readProcesses: ReadProcesses | null;
};
