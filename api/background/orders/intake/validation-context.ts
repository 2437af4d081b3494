import type { OrderQuotas } from "../../../../projections/domain/orders/order-quotas.ts";
import { reject } from "../../../../projections/domain/rejection.ts";
import type { TokenSet } from "../../../../projections/reads/ownership/read-burned-tokens.ts";
import type { ChainResults } from "../../chain/query-chain.ts";
import type { IntakeRejection } from "../market/admission.ts";
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

/** `unread`: what could not be read; null: nothing could. */
export function rpcUnavailable(unread: string | null): IntakeRejection {
  const message =
    unread === null ? "The chain is unavailable" : `The chain did not return ${unread}`;
  return reject("rpc_unavailable", `${message}; submit the order again later`);
}
