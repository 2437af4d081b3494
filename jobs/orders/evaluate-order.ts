import type { Address, Hex } from "viem";
import type { ChainId } from "#chains/index.ts";
import type { OrderStatus } from "#projections/domain/orders/order-status.ts";
import { type Rejection, reject } from "#projections/domain/rejection.ts";
import type { SignedOrder } from "#projections/domain/seaport/order-components.ts";
import type { AcceptedOrder } from "#projections/orders/read-signed-orders.ts";
import type { TokenOfContract } from "#projections/tokens/read-token.ts";
import type { ChainQuery, Standard } from "../chain/chain-query.ts";
import type { ChainResults } from "../chain/query-chain.ts";
import { RpcFailure } from "../chain/rpc.ts";

export type CheckedOrder = AcceptedOrder & { orderHash: Hex };

type EndCode = "order_filled" | "order_cancelled" | "order_expired";
type OrderCode =
  | EndCode
  | "not_started"
  | "contract_signature_invalid"
  | "transfer_restricted"
  | "rpc_unavailable";

/** Order status, the maker's counter, the validity of the signature, and whether recipients take what they get. */
export function orderQueries(order: CheckedOrder) {
  const { orderHash, components, signature } = order;
  return {
    status: { kind: "order_status_read", orderHash },
    counter: { kind: "counter_read", maker: components.offerer },
    signature: {
      kind: "signature_read",
      orderHash,
      maker: components.offerer,
      order: { components, signature },
    },
    recipients: recipientsQuery(order),
  } as const satisfies Record<string, ChainQuery>;
}

/** Whether whom the order pays, or who bids for ERC-1155 units, takes what the order sends. */
export function recipientsQuery({
  orderHash,
  components,
  signature,
}: SignedOrder & { orderHash: Hex }) {
  return { kind: "recipients_read", orderHash, order: { components, signature } } as const;
}

/** Unfilled units of the order, regardless of balances; or why the exchange would not fill it. */
export function evaluateOrder(
  order: CheckedOrder,
  results: ChainResults,
  now: Date,
): bigint | Rejection<OrderCode> {
  const { components, terms } = order;
  const queries = orderQueries(order);
  const status = results.find(queries.status);
  const counter = results.find(queries.counter);
  if (status === undefined || counter === undefined) return chainUnavailable();
  const filledUnits = status.size === 0n ? 0n : (terms.quantity * status.filled) / status.size;
  if (filledUnits >= terms.quantity) return ended.filled();
  if (status.cancelled || counter.counter !== components.counter) return ended.cancelled();
  const signature = results.find(queries.signature);
  // The maker's contract may have used up its time or gas: nobody knows whether the exchange would fill the order.
  if (signature === undefined) return chainUnavailable();
  if (!signature.valid) {
    return reject(
      "contract_signature_invalid",
      "The maker's contract rejects the signature (EIP-1271)",
    );
  }
  return (
    evaluateTimes(order, results, now) ??
    evaluateRecipients(results.find(queries.recipients)) ??
    terms.quantity - filledUnits
  );
}

/** An unknown answer does not reject: nodes need not be able to simulate a payment. */
function evaluateRecipients(read: { refusing: Address | null } | undefined) {
  if (!read?.refusing) return null;
  const message = `The contract ${read.refusing} rejects the payment or the tokens that the order sends it`;
  return reject("transfer_restricted", message);
}

/** Uses the later of our clock and the latest block, which is old when nothing was mined for a while. */
function evaluateTimes(order: CheckedOrder, { basis }: ChainResults, now: Date) {
  const { startTime, endTime } = order.components;
  const mined = basis.timestamp;
  const seconds = BigInt(Math.floor(Math.max(now.getTime(), mined.getTime()) / 1000));
  if (endTime <= seconds) return ended.expired();
  if (startTime > seconds) return reject("not_started", "The order has not started yet");
  return null;
}

const ended = {
  filled: () => reject("order_filled", "The order is filled"),
  cancelled: () => reject("order_cancelled", "The order is cancelled"),
  expired: () => reject("order_expired", "The order has expired"),
};

/** Why an order is not fillable according to its stored state; null: it is. */
export function evaluateStoredOrder<Reason extends string>({
  status,
  reason,
}: {
  status: OrderStatus;
  reason: Reason | null;
}): Rejection<EndCode | Reason | "not_started"> | null {
  if (status === "active") return null;
  if (status !== "inactive") return ended[status]();
  const code = reason ?? "not_started";
  return reject(code, `The order is inactive: ${code}`);
}

type Token = { contract: Address; tokenId: bigint; standard: Standard };

/** Balance, approvals, conduit channel and a simulated transfer of the token by the conduit. */
export function transferQueries({ contract, tokenId, standard }: Token, owner: Address) {
  return {
    holding:
      standard === "erc721"
        ? { kind: "owner_read", contract, tokenId }
        : { kind: "units_read", contract, tokenId, owner },
    approval: { kind: "approval_read", contract, owner },
    ...(standard === "erc721" && {
      tokenApproval: { kind: "token_approval_read", contract, tokenId } as const,
    }),
    channel: { kind: "channel_read" },
    transfer: { kind: "transfer_read", contract, tokenId, owner, standard },
  } as const satisfies Record<string, ChainQuery>;
}

type TransferQueries = ReturnType<typeof transferQueries>;

/** Units that the owner holds; undefined: unknown. */
export function heldUnits(
  { holding, approval }: TransferQueries,
  results: ChainResults,
): bigint | undefined {
  if (holding.kind === "units_read") return results.find(holding)?.units;
  const reading = results.find(holding);
  if (reading === undefined) return undefined;
  return reading.owner === approval.owner ? 1n : 0n;
}

/** Whether the conduit may move the owner's tokens, or this one; undefined: unknown. */
export function isConduitApproved(
  { approval, tokenApproval }: Pick<TransferQueries, "approval" | "tokenApproval">,
  results: ChainResults,
): boolean | undefined {
  const ofAll = results.find(approval)?.approved;
  const ofToken = tokenApproval === undefined ? false : results.find(tokenApproval)?.approved;
  if (ofAll || ofToken) return true;
  return ofAll === undefined || ofToken === undefined ? undefined : false;
}

/** Why the conduit cannot transfer the token; unknown results do not reject. */
export function evaluateConduit(
  { channel, transfer }: TransferQueries,
  results: ChainResults,
): Rejection<"conduit_channel_closed" | "transfer_restricted"> | null {
  if (results.find(channel)?.open === false) {
    return reject("conduit_channel_closed", "The conduit's channel to the exchange is closed");
  }
  if (results.find(transfer)?.allowed === false) {
    return reject("transfer_restricted", "The collection does not allow the transfer of the token");
  }
  return null;
}

/** The tokens whose contract was asked for their owner and named none: never minted, or burned. */
export function findOwnerless(
  tokens: readonly { contract: Address; tokenId: bigint | null }[],
  results: ChainResults,
): TokenOfContract[] {
  return tokens.flatMap(({ contract, tokenId }) => {
    if (tokenId === null) return [];
    const answer = results.find({ kind: "owner_read", contract, tokenId });
    return answer?.owner === null ? [{ contract, tokenId }] : [];
  });
}

/** Reads of a chain for orders. */
export type ChainReads = {
  /** Queries the chain; concurrent callers share a round. Throws `RpcFailure`. */
  queryChain(chainId: ChainId, queries: readonly ChainQuery[]): Promise<ChainResults>;
};

/** Queries a chain; an unavailable chain is a rejection. */
export async function queryChainOrReject(
  reads: ChainReads,
  chainId: ChainId,
  queries: readonly ChainQuery[],
): Promise<ChainResults | Rejection<"rpc_unavailable">> {
  try {
    return await reads.queryChain(chainId, queries);
  } catch (error) {
    if (error instanceof RpcFailure) return chainUnavailable();
    throw error;
  }
}

export function chainUnavailable(): Rejection<"rpc_unavailable"> {
  return reject("rpc_unavailable", "The chain is unavailable; try again later");
}
