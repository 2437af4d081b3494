import type { ChainId } from "#chains/index.ts";
import type { Database } from "#projections/log/database.ts";
import type { MarketTerms } from "#projections/domain/orders/order-terms.ts";
import type { OrderQuotas } from "#projections/domain/orders/order-quotas.ts";
import type { ChainQuery } from "#jobs/chain/chain-query.ts";
import type { ChainClient } from "#jobs/chain/client.ts";
import type { ChainResults } from "#jobs/chain/query-chain.ts";
import type { Partner } from "#jobs/partners/partner.ts";
import type { Admit } from "./admission.ts";
import type { OutcomeCount } from "./count-outcomes.ts";

/** Features that an operator can pause. */
type PausableFeature = "listings" | "offers" | "buying";

/** What submitting, filling and checking orders needs. */
export type Market = {
  /** The primary database, for appends and for reads that must see them. */
  writer: Database;
  /** Prefix of `askId` and `bidId`. */
  prefix: string;
  terms(chainId: ChainId): MarketTerms;
  /** Chains that are served. */
  chains: readonly ChainClient[];
  /** Throws for a chain that is not served. */
  chain(chainId: ChainId): ChainClient;
  /** Queries the chain; concurrent callers share a round. Throws `RpcFailure`. */
  queryChain(chainId: ChainId, queries: readonly ChainQuery[]): Promise<ChainResults>;
  /** Whether every NFT contract of the chain is indexed, whether or not it has been seen. */
  indexesAllContracts(chainId: ChainId): boolean;
  isPaused(feature: PausableFeature): Promise<boolean>;
  /** Partner marketplaces, with timeouts for interactive requests. */
  partners: readonly Partner[];
  quotas: OrderQuotas;
  admit: Admit;
  /** Of this process. */
  readOutcomes(): readonly OutcomeCount[];
  /** Waits until the projections of orders have reached a position of the log; false after a deadline. */
  waitUntilProjected(position: bigint): Promise<boolean>;
  /** The highest position that this process has appended for a caller and waited for. */
  writtenPosition(): bigint;
  close(): Promise<void>;
};
