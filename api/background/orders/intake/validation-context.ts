import { reject } from "../../../../projections/domain/rejection.ts";
import type { ChainResults } from "../../chain/query-chain.ts";
import type { IntakeRejection } from "../market/admission.ts";
import type { BatchTotals } from "./batch-totals.ts";
import type { StoredContext } from "./read-stored-context.ts";

/** What an order is validated against. */
export type ValidationContext = {
  stored: StoredContext;
  results: ChainResults;
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
