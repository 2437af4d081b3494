import type { ChainId } from "../../../../abis/deployments.ts";
import type { Rejection } from "../../../../projections/domain/rejection.ts";
import type { ChainAnswers } from "../../chain/ask-chain.ts";
import type { Question } from "../../chain/questions.ts";
import { RpcFailure } from "../../chain/rpc-batch.ts";
import type { Market } from "../market.ts";
import { unanswered } from "./check-order.ts";

/** Asks a chain on behalf of a caller, who is told when it cannot be asked. */
export async function askOrRefuse(
  market: Market,
  chainId: ChainId,
  questions: readonly Question[],
): Promise<ChainAnswers | Rejection<"rpc_unavailable">> {
  try {
    return await market.ask(chainId, questions);
  } catch (error) {
    if (error instanceof RpcFailure) return unanswered();
    throw error;
  }
}
