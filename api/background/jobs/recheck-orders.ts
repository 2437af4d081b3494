import type { Hex } from "viem";
import { appendChangedReadings } from "#projections/orders/changed-readings.ts";
import type { Database } from "#projections/log/database.ts";
import { readMarketplaceOrders } from "#projections/orders/read-signed-orders.ts";
import type { ChainClient } from "#jobs/chain/client.ts";
import { queryChain } from "#jobs/chain/query-chain.ts";
import type { ChangingContracts, StateWithoutEvents } from "./changing-contracts.ts";
import { questionsOf } from "./check-orders.ts";

/** What is read again of orders. An account that approves a token anew is no contract that changes its mind. */
export type RecheckedKind = StateWithoutEvents | "token_approval_read";

type Rechecks = readonly { kinds: readonly RecheckedKind[]; orders: readonly Hex[] }[];

/**
 * Makes chain readings of the kinds for each order whose contracts may be asked, and appends those that changed. Returns
 * their number. Throws `RpcFailure`.
 */
export async function recheckOrders(
  db: Database,
  { client, changing }: { readonly client: ChainClient; readonly changing: ChangingContracts },
  rechecks: Rechecks,
  now: Date,
): Promise<number> {
  const { chainId } = client;
  const hashes = rechecks.flatMap(({ orders }) => orders);
  if (hashes.length === 0) return 0;
  const stored = await readMarketplaceOrders(db, chainId, hashes);
  const questions = rechecks.flatMap(({ kinds, orders }) =>
    orders.flatMap((orderHash) => {
      const order = stored.get(orderHash);
      if (order === undefined) return [];
      return questionsOf({ ...order, orderHash }).filter(
        (question) => kinds.some((kind) => kind === question.kind) && changing.mayAsk(question),
      );
    }),
  );
  if (questions.length === 0) return 0;
  const { basis, readings } = await queryChain(client, questions);
  const changed = await appendChangedReadings(db, [{ chainId, basis, readings }], now);
  changing.record(changed?.appended ?? []);
  return changed?.appended.length ?? 0;
}
