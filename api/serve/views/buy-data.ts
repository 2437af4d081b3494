import { zeroAddress } from "viem";
import { z } from "zod";
import { seaport } from "../../../abis/deployments.ts";
import type { Bought } from "../../work/orders/buying/buy.ts";
import type { Payment } from "../../work/orders/buying/buy-calldata.ts";
import { advancedOrderFields, bytes, presentAdvancedOrder } from "./advanced-order.ts";
import { presentCurrency } from "./money.ts";
import { address, chainIdValue, currency, hash, time, uint256Text } from "./wire.ts";

/** A transaction that buys exactly one listing: send `data` to `to` with `value` wei. */
export const BuyData = z
  .object({
    askId: z.string(),
    chainId: chainIdValue,
    to: address.meta({ description: "The exchange." }),
    data: bytes.meta({ description: "`fulfillAdvancedOrder`, then four bytes that name us." }),
    value: uint256Text.meta({ description: "Wei to send, exactly." }),
    orderData: z
      .object({
        ...advancedOrderFields,
        fulfillerConduitKey: hash,
        recipient: address.meta({ description: "Zero: whoever sends the transaction." }),
        payment: z
          .object({
            token: address,
            balanceWei: uint256Text.nullable().meta({ description: "Null: no buyer was named." }),
            allowanceWei: uint256Text.nullable(),
            requiredWei: uint256Text,
          })
          .nullable()
          .meta({
            description:
              "Of a listing in a currency: what the buyer holds, and lets the exchange take. " +
              "Approve exactly `requiredWei` to `to`. Null where native currency is sent.",
          }),
      })
      .meta({ id: "BuyOrderData" }),
    currency,
    priceWei: uint256Text.meta({ description: "Of all the units bought." }),
    quantity: z.int().min(1).meta({ description: "Units bought." }),
    validUntil: time.nullable().meta({
      description:
        "When this ends: with the listing, or earlier where a partner allows the buyer only so long.",
    }),
  })
  .meta({ id: "BuyData" });

export function presentBuyData(bought: Bought): z.output<typeof BuyData> {
  const { askId, chainId, purchase, endsAt } = bought;
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
