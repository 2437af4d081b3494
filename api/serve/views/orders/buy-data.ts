import { zeroAddress } from "viem";
import { z } from "zod";
import { seaport } from "#abis/deployments.ts";
import type { Payment } from "#api/orders/buy-calldata.ts";
import type { PreparedPurchase } from "#api/orders/buy-listings.ts";
import { presentCurrency } from "../money.ts";
import { address, chainIdValue, currency, exactUnits, hash, time, uint256Text } from "../wire.ts";
import { advancedOrderFields, bytes, presentAdvancedOrder } from "./advanced-order.ts";

/** A transaction that buys exactly one listing: send `data` to `to` with `value` wei. */
export const BuyData = z
  .object({
    askId: z.string(),
    chainId: chainIdValue,
    to: address.meta({ description: "The exchange." }),
    data: bytes.meta({
      description: "`fulfillAdvancedOrder`, followed by four bytes that identify this service.",
    }),
    value: uint256Text.meta({ description: "Exact amount of wei to send." }),
    orderData: z
      .object({
        ...advancedOrderFields,
        fulfillerConduitKey: hash,
        recipient: address.meta({ description: "Zero: the sender of the transaction." }),
        payment: z
          .object({
            token: address,
            balanceWei: uint256Text
              .nullable()
              .meta({ description: "Null: the request has no buyer." }),
            allowanceWei: uint256Text.nullable(),
            requiredWei: uint256Text,
          })
          .nullable()
          .meta({
            description:
              "For a listing in an ERC-20 currency: the buyer's balance and allowance. " +
              "Approve exactly `requiredWei` for `to`. Null for native currency.",
          }),
      })
      .meta({ id: "BuyOrderData" }),
    currency,
    priceWei: uint256Text.meta({ description: "Of all the units bought." }),
    quantity: z.int().min(1).meta({ description: "Units bought." }),
    quantityExact: exactUnits,
    validUntil: time.nullable().meta({
      description:
        "When the call expires: with the listing, or earlier if a partner's authorization expires earlier.",
    }),
  })
  .meta({ id: "BuyData" });

export function presentBuyData(prepared: PreparedPurchase): z.output<typeof BuyData> {
  const { askId, chainId, purchase, endsAt } = prepared;
  return {
    askId,
    chainId,
    to: seaport["1.6"],
    data: purchase.data,
    value: String(purchase.valueWei),
    orderData: {
      ...presentAdvancedOrder(purchase.order),
      fulfillerConduitKey: purchase.fulfillerConduitKey,
      recipient: purchase.recipient,
      payment: purchase.payment && presentPayment(purchase.payment),
    },
    currency: presentCurrency(chainId, purchase.currency ?? zeroAddress),
    priceWei: String(purchase.priceWei),
    quantity: Number(purchase.units),
    quantityExact: String(purchase.units),
    validUntil: endsAt.toISOString(),
  };
}

function presentPayment({ token, balanceWei, allowanceWei, requiredWei }: Payment) {
  return {
    token,
    balanceWei: balanceWei === null ? null : String(balanceWei),
    allowanceWei: allowanceWei === null ? null : String(allowanceWei),
    requiredWei: String(requiredWei),
  };
}
