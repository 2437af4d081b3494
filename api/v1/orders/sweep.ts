import { type Address, zeroAddress } from "viem";
import { z } from "zod";
import { seaportAddresses } from "#abis/deployments.ts";
import { callerOfInput } from "#api/http/limit.ts";
import type { PreparedPurchase } from "#api/orders/buy-listings.ts";
import { type PreparedSweep, sweepListings } from "#api/orders/sweep-listings.ts";
import type { ChainId } from "#chains/index.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import { readTraitKeys } from "#projections/traits/read-tokens-with-traits.ts";
import { contractsOfReference, referTo, rejectUnknownCollection } from "../collection-reference.ts";
import { route } from "../context.ts";
import { bodyChainId, collectionKey, traitFilter, uint256, wallet } from "../parameters.ts";
import {
  address,
  chainIdValue,
  currency,
  exactUnits,
  presentCurrency,
  time,
  uint256Text,
} from "../wire.ts";
import { buyPayment, buyProblem, presentPayment } from "./buy-data.ts";
import { hexBytes } from "./signed-order.ts";

const { code } = buyProblem.shape;
const sweepProblem = buyProblem.extend({
  code: z.enum([...code.options, "insufficient_balance"]).meta({
    description: "`insufficient_balance`: of the wrapped currency.",
  }),
});

const sweepItem = z
  .object({
    askId: z.string(),
    contract: address,
    tokenId: uint256Text,
    quantity: z.int().min(1).meta({ description: "Units bought." }),
    quantityExact: exactUnits,
    priceWei: uint256Text.meta({ description: "Of all these units." }),
    currency,
  })
  .meta({ id: "SweepItem" });

const sweepTransaction = z
  .object({
    to: address.meta({ description: "The exchange." }),
    data: hexBytes.meta({
      description:
        "`fulfillAvailableAdvancedOrders`, followed by four bytes that identify this service.",
    }),
    value: uint256Text.meta({
      description: "Wei to send; the exchange returns what orders that are gone would have cost.",
    }),
    askIds: z.array(z.string()).meta({ description: "The listings that it buys." }),
    payment: buyPayment,
    validUntil: time.meta({ description: "When the first of its orders can no longer be filled." }),
  })
  .meta({ id: "SweepTransaction" });

/** What to buy, and the transactions that buy it. */
export const Sweep = z
  .object({
    chainId: chainIdValue,
    items: z.array(sweepItem).meta({ description: "What is bought, cheapest per unit first." }),
    quantity: z.int().min(0).meta({ description: "Units bought, of all items together." }),
    totals: z
      .array(z.object({ currency, wei: uint256Text }))
      .meta({ description: "What all items cost, by currency. Together at most the budget." }),
    transactions: z.array(sweepTransaction).meta({
      description:
        "One for all orders of an exchange; more only above 16,777,216 gas (EIP-7825). Orders that ended before it is mined are left out; a token that its maker can no longer transfer fails it as a whole: ask again for its `askIds`.",
    }),
    skipped: z
      .array(sweepProblem)
      .meta({ description: "Cheaper listings that cannot be bought now, and why." }),
    shortage: z.enum(["budget", "listings", "checks"]).nullable().meta({
      description:
        "Why fewer units are bought than wanted: no others are within the budget; there are no others; so many cannot be bought that no more are checked. Null: as many as wanted.",
    }),
  })
  .meta({ id: "Sweep" });
type SweepView = z.output<typeof Sweep>;

function presentItem(chainId: ChainId, { askId, purchase }: PreparedPurchase) {
  const [nft] = purchase.order.parameters.offer;
  if (nft === undefined) throw new Error(`listing ${askId} offers nothing`);
  return {
    askId,
    contract: nft.token,
    tokenId: String(nft.identifierOrCriteria),
    quantity: Number(purchase.units),
    quantityExact: String(purchase.units),
    priceWei: String(purchase.priceWei),
    currency: presentCurrency(chainId, purchase.currency ?? zeroAddress),
  };
}

function presentTotals(chainId: ChainId, purchases: readonly PreparedPurchase[]) {
  const totals = new Map<Address, bigint>();
  for (const { purchase } of purchases) {
    const name = purchase.currency ?? zeroAddress;
    totals.set(name, (totals.get(name) ?? 0n) + purchase.priceWei);
  }
  return [...totals].map(([name, wei]) => ({
    currency: presentCurrency(chainId, name),
    wei: String(wei),
  }));
}

function presentSweep(chainId: ChainId, sweep: PreparedSweep): SweepView {
  const { purchases, transactions, skipped, shortage } = sweep;
  return {
    chainId,
    items: purchases.map((one) => presentItem(chainId, one)),
    quantity: Number(purchases.reduce((sum, { purchase }) => sum + purchase.units, 0n)),
    totals: presentTotals(chainId, purchases),
    transactions: transactions.map(({ data, valueWei, payment, endsAt, ...transaction }) => ({
      to: seaportAddresses["1.6"],
      data,
      value: String(valueWei),
      askIds: transaction.purchases.map(({ askId }) => askId),
      payment: payment && presentPayment(payment),
      validUntil: endsAt.toISOString(),
    })),
    skipped: skipped.map(({ askId, rejection: { rejected, message, retryAfterSeconds } }) => ({
      askId,
      code: rejected,
      error: message,
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    })),
    shortage,
  };
}

const maxUnits = 50;

export const sweep = route(
  {
    method: "post",
    path: "/v1/listings/sweep",
    operationId: "sweepListings",
    tag: "Listings",
    loadClass: "orders",
    summary:
      "The cheapest units of a collection, of all marketplaces, that pass the checks of `buy-data`, in as few transactions as possible",
    body: z.strictObject({
      chainId: bodyChainId,
      collection: collectionKey,
      traits: traitFilter("traits").optional(),
      askIds: z
        .array(z.string().max(200))
        .min(1)
        .max(maxUnits)
        .nullish()
        .meta({ description: "Only these listings of the collection. Default: any." }),
      count: z
        .int()
        .min(1)
        .max(maxUnits)
        .transform(BigInt)
        .meta({
          description: "Units to buy: an ERC-721 token is one, of an ERC-1155 listing any number.",
          override: { type: "integer", minimum: 1, maximum: maxUnits },
        }),
      budgetWei: uint256.nullish().meta({
        description:
          "The most that all may cost together; the native and the wrapped currency are worth the same.",
        override: { type: "string", pattern: "^(0|[1-9][0-9]*)$" },
      }),
      currency: z
        .enum(["native", "wrapped"])
        .nullish()
        .meta({ description: "Only listings in it. Default: both." }),
      buyer: wallet.meta({ description: "Receives the tokens, and sends the transactions." }),
    }),
    data: Sweep,
    refuses: {
      bad_structure: 422,
      unsupported_chain: 422,
      not_found: 404,
      buying_disabled: 503,
    },
  },
  async ({ body, ...from }, { market, now }) => {
    const { chainId, collection, buyer, count } = body;
    const found = await referTo(market.writer, chainId, collection);
    if (found === null) return rejectUnknownCollection(chainId, collection);
    const contractIds = contractsOfReference(found);
    const traitKeys = await readTraitKeys(market.writer, contractIds, body.traits ?? []);
    const request = {
      ...{ chainId, contractIds, traitKeys, buyer, count },
      askIds: body.askIds ?? null,
      budgetWei: body.budgetWei ?? null,
      currency: body.currency ?? null,
      caller: callerOfInput(from),
    };
    const outcome = await sweepListings(market, request, now());
    return isRejection(outcome) ? outcome : { data: presentSweep(chainId, outcome) };
  },
);
