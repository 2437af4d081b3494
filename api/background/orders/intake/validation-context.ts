import type { OrderQuotas } from "#projections/domain/orders/order-quotas.ts";
import type { TokenSet } from "#projections/tokens/read-token.ts";
import type { ChainResults } from "#jobs/chain/query-chain.ts";
import type { BatchTotals } from "../quotas/batch-totals.ts";
import type { StoredContext } from "./read-stored-context.ts";

/** What an order is validated against. */
export type ValidationContext = {
  stored: StoredContext;
  quotas: OrderQuotas;
  results: ChainResults;
  /** Tokens without an owner on the chain that the log saw burned. */
  burnedTokens: TokenSet;
  /** Totals of the orders accepted before it in the same batch. */
  batchTotals: BatchTotals;
  /** Whether every NFT contract of the chain is indexed. */
  indexesAllContracts: boolean;
};
