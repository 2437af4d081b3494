import type { Logger } from "pino";
import { projectionNames } from "#projections/all.ts";
import type { Database, DatabaseAddress } from "#projections/log/database.ts";
import { openPositionedReads, type PositionedReads, type WaitOutcome } from "#api/http/reads/positioned-reads.ts";
import { openReplicas, type ReplicaState } from "#api/http/reads/replicas.ts";
import { openReaders } from "./readers.ts";
import type { RoleConfig } from "./role.ts";

export type OpenedReads = {
  /** The primary. */
  readonly db: Database;
  readonly reads: PositionedReads;
  replicaStates(): readonly ReplicaState[];
  close(): Promise<void>;
};

type Options = {
  readonly database: RoleConfig["database"];
  readonly logger: Logger;
  /** The highest position that this process has appended. */
  readonly written: () => bigint;
  readonly onWait: (ms: number, outcome: WaitOutcome) => void;
};

/** The databases that the API reads: the primary, and its replicas where there are. */
export function openReads({ database, logger, written, onWait }: Options): OpenedReads {
  const open = (address: DatabaseAddress, name?: string) =>
    openReaders({
      address,
      projections: projectionNames,
      logger,
      ...(name !== undefined && { name }),
    });
  const primary = open(database.requests);
  const opened = database.replicas.map(({ weight, ...address }) => {
    const readers = open(address, new URL(address.url).host);
    return { readers, weight, target: readers.target };
  });
  const replicas = openReplicas({
    primary: primary.target,
    replicas: opened,
    maxLagSeconds: database.maxReplicaLagSeconds,
    onChange({ name, isUsed, isReachable, lagSeconds }) {
      const fields = { replica: name, isReachable, lagSeconds };
      if (isUsed) logger.info(fields, "replica in use");
      else logger.warn(fields, "replica out of use");
    },
  });
  const reads = openPositionedReads({
    primary: primary.target,
    projections: projectionNames,
    choose: replicas.choose,
    onFailure(target, error) {
      replicas.leave(target);
      const reason = error instanceof Error ? error.message : String(error);
      logger.warn({ replica: target.name, reason }, "replica failed a read");
    },
    written,
    onWait,
  });
  return {
    db: primary.db,
    reads,
    replicaStates: replicas.states,
    async close() {
      replicas.stop();
      await Promise.all(
        [primary, ...opened.map(({ readers }) => readers)].map((one) => one.close()),
      );
    },
  };
}
