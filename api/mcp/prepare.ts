import { type Address, encodeFunctionData } from "viem";
import { z } from "zod";
import { seaportAddresses } from "#abis/deployments.ts";
import { seaportFunctions } from "#abis/seaport.ts";
import { erc20Abi } from "#abis/tokens.ts";
import { isRejection, type Rejection, reject } from "#projections/domain/rejection.ts";
import { readMarketplaceOrders } from "#projections/orders/read-signed-orders.ts";
import { listingOf, orderHashOf } from "../orders/order-id.ts";
import { buyData } from "../v1/orders/buy-data.ts";
import { preparingTool, read, type ToolContext } from "./tool.ts";
import { amountText, walletArgument } from "./words.ts";

/** A transaction that the wallet signs and sends. */
export type SendStep = {
  readonly action: "send";
  readonly does: string;
  readonly from: string;
  readonly to: string;
  readonly data: string;
  readonly valueWei: string;
};

/** Approves exactly what an order takes. */
export const approveMoney = (
  { token, spender, from }: { token: string; spender: Address; from: string },
  { wei, text }: { wei: string; text: string },
): SendStep => ({
  action: "send",
  does: `Let the exchange take ${text}`,
  ...{ from, to: token },
  data: encodeFunctionData({
    abi: erc20Abi,
    functionName: "approve",
    args: [spender, BigInt(wei)],
  }),
  valueWei: "0",
});

export const preparePurchase = preparingTool({
  name: "prepare_purchase",
  title: "Prepare a purchase",
  description:
    "The unsigned transactions that buy a listing (`askId` of cheapest_listings or token), checked against the chain now. Nothing is signed or sent.",
  fields: {
    askId: z.string().max(200),
    buyer: walletArgument,
    units: z.int().min(1).default(1).describe("Of an ERC-1155 listing"),
    maxPriceWei: z
      .string()
      .regex(/^\d{1,78}$/)
      .optional()
      .describe("Refused above it"),
  },
  answer: async ({ askId, buyer, units, maxPriceWei }, context) => {
    const { chainId } = context;
    const body = { chainId, buyer, amount: units, maxPriceWei };
    const found = await read(buyData, { params: { askId }, body }, context);
    if (isRejection(found)) return found;
    const { to, data, value, priceWei, currency, quantityExact, validUntil, orderData } =
      found.data;
    const price = amountText(priceWei, currency);
    const { payment } = orderData;
    const isAllowed =
      payment === null || BigInt(payment.allowanceWei ?? 0) >= BigInt(payment.requiredWei);
    const steps: SendStep[] = [
      ...(payment === null || isAllowed
        ? []
        : [
            approveMoney(
              { token: payment.token, spender: to as Address, from: buyer },
              { wei: payment.requiredWei, text: price },
            ),
          ]),
      {
        action: "send",
        does: `Buy ${quantityExact} of ${askId} for ${price}`,
        ...{ from: buyer, to, data, valueWei: value },
      },
    ];
    return { chainId, price, units: quantityExact, validUntil, steps };
  },
});

export const prepareCancel = preparingTool({
  name: "prepare_cancel",
  title: "Prepare a cancel",
  description:
    "The unsigned transaction with which a wallet cancels its own listings and offers (`askId`, `bidId`), on every marketplace that shows them. It takes effect when it is mined.",
  fields: {
    orders: z.array(z.string().max(200)).min(1).max(20),
    wallet: walletArgument,
  },
  answer: async ({ orders, wallet }, context) => {
    const found = await ownOrders(orders, wallet, context);
    if (isRejection(found)) return found;
    const data = encodeFunctionData({
      abi: seaportFunctions,
      functionName: "cancel",
      args: [found],
    });
    const step: SendStep = {
      action: "send",
      does: `Cancel ${orders.join(", ")}`,
      ...{ from: wallet, to: seaportAddresses["1.6"], data, valueWei: "0" },
    };
    return { chainId: context.chainId, steps: [step] };
  },
});

/** The orders as they were signed, all of them the wallet's. */
async function ownOrders(
  ids: readonly string[],
  wallet: string,
  { db, chainId, market: { prefix } }: ToolContext,
) {
  const named = ids.map((id) => ({
    id,
    hash: listingOf(prefix, id)?.orderHash ?? orderHashOf(prefix, id),
  }));
  const hashes = named.flatMap(({ hash }) => (hash === null ? [] : [hash]));
  const known = await readMarketplaceOrders(db, chainId, hashes);
  const orders = named.map(({ id, hash }) => {
    const order = hash === null ? undefined : known.get(hash);
    if (order === undefined) return reject("not_found", `No order ${id} on chain ${chainId}`);
    if (order.components.offerer.toLowerCase() !== wallet.toLowerCase())
      return reject("not_maker", `${id} is not an order of ${wallet}`);
    return order.components;
  });
  const refused: Rejection | undefined = orders.find((order) => isRejection(order));
  return refused ?? orders.flatMap((order) => (isRejection(order) ? [] : order));
}
