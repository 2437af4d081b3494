import type { AbiEvent, Address } from "viem";

/** Events that are indexed of some contracts, as `api/run/indexer/indexed-sources.ts` lists them. */
export type EventSource = {
  name: string;
  events: readonly AbiEvent[];
  /** null: any contract. */
  addresses: readonly Address[] | null;
  args?: Readonly<Record<string, Address>>;
  firstBlock: number;
  eventsWithCall: readonly string[];
};

export function optionalSetting(name: string): string | undefined {
  return process.env[name];
}

export function setting(name: string): string {
  const value = optionalSetting(name);
  if (value === undefined || value === "") throw new Error(`${name} is not set`);
  return value;
}

/** One variable for each source: the length of a variable is limited. */
export const sources: readonly EventSource[] = setting("INDEXER_SOURCES")
  .split(",")
  .map((name) => JSON.parse(setting(`INDEXER_SOURCE_${name}`)));
