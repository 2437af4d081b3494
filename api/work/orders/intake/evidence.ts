import { reject } from "../../../../projections/domain/rejection.ts";
import type { ChainAnswers } from "../../chain/ask-chain.ts";
import type { Known } from "./admission-reads.ts";
import type { Refused } from "./candidate.ts";
import type { Ledger } from "./ledger.ts";

/** What an order is judged by, besides itself. */
export type Evidence = {
  known: Known;
  answers: ChainAnswers;
  /** What the orders before it in the same batch take up. */
  ledger: Ledger;
  /** Whether every NFT contract of the chain is covered. */
  coversAll: boolean;
};

export function rpcUnavailable(what: string): Refused {
  return reject("rpc_unavailable", `The chain did not say ${what}; the order may be sent again`);
}
