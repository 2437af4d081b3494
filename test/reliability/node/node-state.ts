import type { ProvableChain } from "../chain/provable-chain.ts";
import type { Description } from "./contracts.ts";
import type { Faults } from "./faults.ts";

/** A JSON-RPC node of a chain, with a websocket at the same port, that does what its faults say. */
export type FaultyNode = {
  readonly url: string;
  readonly wsUrl: string;
  faults: Faults;
  /** Another one may be put in its place. */
  chain: ProvableChain;
  description: Description;
  /** Calls so far, by method; HTTP requests and those that a fault struck. */
  readonly calls: Map<string, number>;
  readonly counts: { requests: number; struck: number };
  /** Methods that were refused as unknown. */
  readonly unknownMethods: Set<string>;
  /** Ends all websockets. */
  cutSockets(): void;
  close(): Promise<void>;
};
