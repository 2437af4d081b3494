import type { Address, Hex } from "viem";
import { commonConduit } from "#abis/deployments.ts";
import type { Database } from "#projections/log/database.ts";
import type { ReadingBasis } from "#projections/log/readings.ts";
import { appendChangedReadings } from "#projections/orders/changed-readings.ts";
import {
  type MarketplaceOrder,
  readMarketplaceOrders,
} from "#projections/orders/read-signed-orders.ts";
import type { ChainQuery } from "../chain/chain-query.ts";
import type { ChainClient } from "../chain/client.ts";
import { queryChain } from "../chain/query-chain.ts";
import type { ChangingContracts } from "./changing-contracts.ts";
import { bidQueries } from "./evaluate-bid.ts";
import { listingQueries } from "./evaluate-listing.ts";

type OrderToCheck = MarketplaceOrder & { orderHash: Hex };

export type Checked = {
  /** The number of changed readings. */
  changed: number;
  /** The blocks that were read at. */
  bases: readonly ReadingBasis[];
};

/**
 * Reads from the chain everything that the state of the orders depends on, but what contracts say that are not asked for
 * now, and appends what changed. Throws `RpcFailure`.
 */
export async function checkOrders(
  db: Database,
  { client, changing }: { readonly client: ChainClient; readonly changing: ChangingContracts },
  orderHashes: readonly Hex[],
  now: Date,
): Promise<Checked> {
  const { chainId } = client;
  const stored = await readMarketplaceOrders(db, chainId, orderHashes);
  const orders = [...stored].map(([orderHash, order]) => ({ ...order, orderHash }));
  if (orders.length === 0) return { changed: 0, bases: [] };
  const asked = (order: OrderToCheck) => questionsOf(order).filter(changing.mayAsk);
  const code = ({ components }: OrderToCheck) =>
    ({ kind: "code", address: components.offerer }) as const;
  const answers = await queryChain(
    client,
    orders.flatMap((order) => [
      ...asked(order).filter(isNotSignature),
      ...(order.signature === null ? [] : [code(order)]),
    ]),
  );
  const uncertain = orders.filter(
    (order) => order.signature === "0x" || answers.find(code(order))?.hasCode,
  );
  const rounds = [answers];
  const signatures = uncertain.flatMap((order) =>
    asked(order).filter((question) => !isNotSignature(question)),
  );
  if (signatures.length > 0) rounds.push(await queryChain(client, signatures));
  const readings = rounds.map((round) => ({
    chainId,
    basis: round.basis,
    readings: round.readings,
  }));
  const changed = await appendChangedReadings(db, readings, now);
  changing.record(changed?.appended ?? []);
  return { changed: changed?.appended.length ?? 0, bases: rounds.map(({ basis }) => basis) };
}

/** Reads the makers' counters from the chain, and appends those that the log does not know. Throws `RpcFailure`. */
export async function checkCounters(
  db: Database,
  client: ChainClient,
  makers: readonly Address[],
  now: Date,
): Promise<Checked> {
  const queries = makers.map((maker) => ({ kind: "counter_read", maker }) as const);
  const { basis, readings } = await queryChain(client, queries);
  const { chainId } = client;
  const changed = await appendChangedReadings(db, [{ chainId, basis, readings }], now);
  return { changed: changed?.appended.length ?? 0, bases: [basis] };
}

/** The log has no events of conduits other than the common one, and a partner may withhold a signature. */
export function questionsOf({ signature, ...order }: OrderToCheck): ChainQuery[] {
  const terms = { ...order.terms, fees: [] };
  const signed = { ...order, terms, signature: signature ?? "0x" };
  if (order.terms.side === "bid") return bidQueries(signed);
  const isCommon = order.components.conduitKey === commonConduit.key;
  return listingQueries(signed).filter(
    ({ kind }) =>
      (isCommon || !conduitKinds.has(kind)) && (signature !== null || kind !== "signature_read"),
  );
}

const conduitKinds: ReadonlySet<ChainQuery["kind"]> = new Set([
  "approval_read",
  "token_approval_read",
  "channel_read",
  "transfer_read",
]);

/** Only contracts can change whether a signature is valid, and reorgs whether an order needs one. */
function isNotSignature({ kind }: ChainQuery): boolean {
  return kind !== "signature_read";
}
