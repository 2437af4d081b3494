import type { Address } from "viem";
import { type Clients, callOptions } from "../clients.ts";
import { bidCurrency, formatAmount, isSame } from "../exchange.ts";
import { assertSafe, checked, WalletError, wrongArgument } from "../wallet-error.ts";
import type { AcceptAction } from "./actions.ts";
import { demandNet } from "./draft-order.ts";
import type { Plan } from "./plan.ts";
import { demandOwnAccount, planOf, Steps } from "./steps.ts";

/** A bid, or whichever bid nets most for a token. */
export type AcceptItem =
  | { readonly bidId: string; readonly tokenId?: bigint; readonly quantity?: bigint }
  | { readonly contract: Address; readonly tokenId: bigint; readonly quantity?: bigint };

export type AcceptOptions = {
  /** The least that the seller must receive in all. Needed when the bid is not named. */
  readonly minNetWei?: bigint;
  readonly signal?: AbortSignal;
};

export async function planAccept(
  clients: Clients,
  item: AcceptItem,
  options: AcceptOptions,
): Promise<Plan> {
  demandOwnAccount(clients);
  const bidId = "bidId" in item ? item.bidId : await findBid(clients, item, options);
  const { data: row } = await clients.api.get("/v1/bids/{bidId}", { bidId }, callOptions(options));
  if (row.status !== "active") {
    const reason = row.inactiveReason ?? row.status;
    throw new WalletError("blocked", `The bid ${bidId} is ${row.status}: ${reason}`, { reason });
  }
  const action = checked((): AcceptAction => {
    const tokenId = row.tokenId ?? item.tokenId?.toString();
    if (tokenId === undefined) {
      const message = "A bid for a collection is accepted with one of its tokens: name it";
      throw new WalletError("blocked", message, { reason: "token_required" });
    }
    assertSafe(
      item.tokenId === undefined || `${item.tokenId}` === tokenId,
      "it is for another token",
    );
    if ("contract" in item)
      assertSafe(isSame(row.contract, item.contract), "the bid is for another contract");
    const currency = bidCurrency[clients.api.chainId];
    assertSafe(isSame(row.currency.address, currency), "it is paid in another currency");
    const isOne = row.kind === "single-token";
    const quantity = item.quantity ?? (isOne ? BigInt(row.quantityRemainingExact) : 1n);
    return {
      name: "accept",
      bidId,
      contract: row.contract as Address,
      tokenId,
      quantity: `${quantity}`,
      netWei: `${BigInt(row.sellerNetWei) * quantity}`,
      currency,
    };
  });
  demandNet(action, options.minNetWei ?? 0n);
  const steps = new Steps();
  await steps.approveTokens(clients, [action.contract]);
  const { quantity, tokenId, contract, netWei } = action;
  const what = quantity === "1" ? `token ${tokenId}` : `${quantity} of token ${tokenId}`;
  const amount = formatAmount(clients.api.chainId, action.currency, netWei);
  const description = `Sell ${what} of ${contract} and receive ${amount}`;
  steps.send(action, description, [{ side: "bid", id: bidId }]);
  return planOf(clients, "accept", steps);
}

async function findBid(
  { api }: Clients,
  { contract, tokenId }: { contract: Address; tokenId: bigint },
  options: AcceptOptions,
): Promise<string> {
  if (options.minNetWei === undefined)
    throw wrongArgument("minNetWei is needed to accept a bid without naming it");
  const query = { collection: contract, tokenId: `${tokenId}` };
  const { data } = await api.get("/v1/bids/best", query, callOptions(options));
  if (data.best === null)
    throw new WalletError("blocked", "There is no bid for the token", { reason: "not_found" });
  return data.best.bidId;
}
