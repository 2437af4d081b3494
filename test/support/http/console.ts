import { env } from "node:process";
import { pino } from "pino";
import { listen } from "#api/http/server.ts";
import { readConfig } from "#ops/config/read-config.ts";
import { createConsole } from "#ops/console/app.ts";
import {
  openMetricsReader,
  openProblemReader,
  openRebuildMeter,
  type ReadProcesses,
} from "#ops/console/figures.ts";
import { OperationEnded, OperationProgress, type RunOperation } from "#ops/console/operations.ts";
import { sample } from "#ops/console/samples.ts";
import { startOrphanGuard } from "#ops/processes/child.ts";
import { openOperations } from "#ops/processes/start-roles.ts";
import { fetchChainHead } from "#ops/reports/read-status.ts";
import { environmentOf } from "../database/operator.ts";
import type { TestDatabase } from "../database/postgres.ts";

type Options = {
  /** Default: the clock. */
  now?: () => Date;
  settings?: Record<string, string>;
  runOperation?: RunOperation | null;
  readProcesses?: ReadProcesses | null;
  /** Default: nothing listens there. */
  metricsUrl?: string;
};

export type TestConsole = {
  url: string;
  /** A page's status and text. */
  get(path: string, headers?: Record<string, string>): Promise<{ status: number; page: string }>;
  /** Sends a form as the console's own page does, unless headers say otherwise. */
  post(fields: Record<string, string>, headers?: Record<string, string>): Promise<number>;
  /** Takes the samples of a minute. */
  sample(at: Date): Promise<void>;
  close(): Promise<void>;
};

/** Has the commands of a console run as the supervisor does, which tells how far they are. */
export function runAsSupervisor({ url }: Pick<TestDatabase, "url">): RunOperation {
  const { PATH, HOME } = env;
  const logger = pino({ level: "silent" });
  const operations = openOperations(
    { orphanGuard: startOrphanGuard(), sink: () => {}, logger },
    { ...environmentOf(url), PATH, HOME },
  );
  return (id, run, onProgress) =>
    new Promise((resolve) =>
      operations.onMessage({ operation: { id, run } }, (answer) => {
        const told = OperationProgress.safeParse(answer).data?.progress;
        if (told !== undefined) onProgress(told);
        else resolve(OperationEnded.parse(answer).ended);
      }),
    );
}

/** The operator's console over a database, as its process serves it. */
export async function openConsole(
  { db, url: databaseUrl }: TestDatabase,
  options: Options = {},
): Promise<TestConsole> {
  const { settings = {}, runOperation = null, readProcesses = null } = options;
  const config = readConfig({ ...environmentOf(databaseUrl), ...settings });
  const logger = pino({ level: "warn" });
  const common = { db, config, fetchHead: fetchChainHead };
  const { now = () => new Date(), metricsUrl = "http://127.0.0.1:1/metrics" } = options;
  const app = createConsole({
    context: {
      ...{ ...common, logger, now, runOperation, readProcesses },
      readProblems: openProblemReader({ ...common, now }),
      measureRebuilds: openRebuildMeter(),
      fetchMetrics: openMetricsReader(metricsUrl),
    },
    readStatus: () => Promise.reject(new Error("not read here")),
  });
  const listening = await listen(app, "127.0.0.1", 0);
  const url = `http://127.0.0.1:${listening.port}`;
  return {
    url,
    async get(path, headers = {}) {
      const response = await fetch(url + path, { headers });
      return { status: response.status, page: await response.text() };
    },
    async post(fields, headers = {}) {
      const body = new URLSearchParams(fields);
      const response = await fetch(`${url}/actions`, {
        ...{ method: "POST", body, redirect: "manual" },
        headers: { origin: url, ...headers },
      });
      await response.text();
      return response.status;
    },
    sample: (at) => sample({ ...common, now: () => at }),
    close: () => listening.close(),
  };
}
