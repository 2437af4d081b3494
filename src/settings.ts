import { fstatSync, readSync } from "node:fs";
import type { AbiEvent, Address } from "viem";

/** Events that are indexed of some contracts, as `ops/ponder/indexed-sources.ts` lists them. */
export type EventSource = {
  name: string;
  events: readonly AbiEvent[];
  /** null: any contract. */
  addresses: readonly Address[] | null;
  args?: Readonly<Record<string, Address>>;
  firstBlock: number;
  eventsWithCall: readonly string[];
};

/** What Ponder is to index, and where. */
export type IndexerSettings = {
  databaseUrl: string;
  chainId: number;
  rpcUrls: readonly string[];
  /** null: new blocks are polled. */
  wsUrl: string | null;
  sources: readonly EventSource[];
};

/** Of the file that Ponder is started with: thousands of addresses are too long for a variable. */
const settingsFile = 4;

function readSettings(): IndexerSettings {
  const bytes = Buffer.alloc(fstatSync(settingsFile).size);
  readSync(settingsFile, bytes, 0, bytes.length, 0);
  return JSON.parse(bytes.toString());
}

export const settings = readSettings();
