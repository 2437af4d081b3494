import type { OrphanGuard } from "#ops/processes/child.ts";
import type { FaultyNode } from "../node/node-state.ts";
import type { StoredRecord } from "./record.ts";

export type SubjectSettings = {
  /** Logs and data of its processes. */
  readonly directory: string;
  readonly databaseUrl: string;
  readonly chain: { readonly chainId: number; readonly firstBlock: number };
  readonly nodes: readonly FaultyNode[];
  readonly hasSocket: boolean;
  /** What runs beside the indexing itself. */
  readonly roles: readonly ("jobs" | "api")[];
  readonly orphanGuard: OrphanGuard;
};

export type RunningSubject = {
  readonly pid: number;
  hasExited(): boolean;
  /** Seconds until it had ended after SIGTERM. */
  stop(): Promise<number>;
  kill(): Promise<void>;
  /** Of `/readyz`; null: it has none, or does not answer. */
  readiness(): Promise<{ status: number; text: string } | null>;
  /** Of its API. */
  readonly baseUrl: string;
};

/** What is tried: an indexer of the chain's transfers, owners and sales. */
export type Subject = {
  readonly name: "ours" | "ponder" | "envio" | "squid";
  /** What is done once before the first start, as installing it. */
  prepare?(settings: SubjectSettings): Promise<void>;
  start(settings: SubjectSettings): Promise<RunningSubject>;
  /** All that it holds. Nothing is held before its tables are there. */
  read(databaseUrl: string, chainId: number): Promise<StoredRecord>;
  /** Rows of transfers, and the last block of which owners are readable. */
  readProgress(databaseUrl: string, chainId: number): Promise<StoredProgress>;
  /** What it says of the collection; undefined: nothing yet, or its handlers ask for none. */
  readDescription(
    databaseUrl: string,
  ): Promise<{ name: string | null; symbol: string | null } | undefined>;
};

export type StoredProgress = { readonly rows: number; readonly ownersAt: number };
