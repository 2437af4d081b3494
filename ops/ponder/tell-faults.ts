import type { Logger } from "pino";
import type { Job } from "#jobs/runner/job.ts";
import { storeNodeFaults } from "#projections/log/chain-state.ts";
import type { Database } from "#projections/log/database.ts";
import type { ChainReader } from "../reader/chain-reader.ts";
import { openRepeatFilter } from "./ponder-log.ts";

/** Why parts that read a chain stand still, by their names; those that work are not in it. */
export type ChainFaults = Map<string, string>;

type FaultOptions = {
  db: Database;
  reader: Pick<ChainReader, "chainId" | "pool" | "waiting">;
  /** Of what reads through the reader. */
  faults: ChainFaults;
  logger: Logger;
};

const everyMs = 2_000;
/** One failure in between is nothing to tell of. */
const toldFailures = 2;
/** What the newest block waits for is worth a word when it lasts. */
const waitingMs = 4_000;

/** Says which of a chain's nodes cannot be used, what its newest block waits for, and why: in the log, and for `/readyz`. */
export function nodeFaults(options: FaultOptions): Job {
  const { db, reader, logger } = options;
  const { chainId } = reader;
  const isRepeated = openRepeatFilter();
  let isBegun = false;
  let isStored = false;
  return {
    name: "node faults",
    about: { chainId },
    every: everyMs,
    retry: { firstMs: everyMs, mostMs: everyMs },
    async run() {
      // What a process before told of stays until nodes have been asked.
      if (!isBegun) {
        isBegun = true;
        return undefined;
      }
      const nodes = faultsOfNodes(reader);
      for (const { part, reason } of nodes) {
        const text = `RPC ${part} ${reason}`;
        if (!isRepeated(text)) logger.error({ chainId, reason: text }, "RPC check failed");
      }
      const all = [...nodes, ...faultsOfReading(options)];
      if (all.length === 0 && isStored) return undefined;
      isStored = false;
      const hosts = reader.pool.nodes.map(({ host }) => host);
      await storeNodeFaults(db, chainId, all, hosts);
      isStored = all.length === 0;
      return undefined;
    },
  };
}

type Fault = { part: string; reason: string };

const faultsOfNodes = ({ pool }: Pick<ChainReader, "pool">): Fault[] =>
  pool.nodes.flatMap(({ host, fault, failures }) =>
    fault === null || failures < toldFailures ? [] : [{ part: host, reason: fault }],
  );

function faultsOfReading({ reader, faults }: FaultOptions): Fault[] {
  const waiting = reader.waiting();
  const lasts = waiting !== null && Date.now() - waiting.since.getTime() > waitingMs;
  return [
    ...(lasts ? [{ part: "newest block", reason: waiting.reason }] : []),
    ...[...faults].map(([part, reason]) => ({ part, reason })),
  ];
}
