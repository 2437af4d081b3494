import { randomBytes } from "node:crypto";
import {
  type Address,
  bytesToHex,
  concatHex,
  encodeFunctionData,
  parseEther,
  zeroAddress,
  zeroHash,
} from "viem";
import { z } from "zod";
import { erc721Abi } from "#abis/tokens.ts";
import type { ChainId } from "#chains/index.ts";
import { saltPrefix, signingParams } from "#projections/domain/orders/order-params.ts";
import { isRejection, reject } from "#projections/domain/rejection.ts";
import { collection } from "../v1/collections/collections.ts";
import { token } from "../v1/collections/token.ts";
import { bidRequirements } from "../v1/orders/bid-requirements.ts";
import { listingRequirements } from "../v1/orders/listing-requirements.ts";
import { approveMoney, type SendStep } from "./prepare.ts";
import { preparingTool, read, type ToolContext } from "./tool.ts";
import {
  amountText,
  coinText,
  collectionArgument,
  tokenIdArgument,
  walletArgument,
} from "./words.ts";

const price = z
  .string()
  .regex(/^(?=.*[1-9])\d{1,30}(\.\d{1,18})?$/)
  .describe("For one unit, in the chain's coin, as 1.25");
const days = z.int().min(1).max(180).default(30);
const units = z.int().min(1).default(1).describe("Of an ERC-1155 token");

export const prepareListing = preparingTool({
  name: "prepare_listing",
  title: "Prepare a listing",
  description:
    "What a seller signs and sends to list a token: an approval where it is missing, the typed data of the order, and where the signed order is posted. Checked against the chain; nothing is signed.",
  fields: {
    ...{ collection: collectionArgument, tokenId: tokenIdArgument, seller: walletArgument },
    ...{ price, units, days },
  },
  answer: async ({ collection, tokenId, seller, price, units, days }, context) => {
    const { chainId } = context;
    const contract = await contractOf({ collection, tokenId }, context);
    if (typeof contract !== "string") return contract;
    const unitPriceWei = `${parseEther(price)}`;
    const items = [{ contract, tokenId, quantity: units, unitPriceWei }];
    const body = { chainId, maker: seller, items };
    const found = await read(listingRequirements, { body }, context);
    if (isRejection(found)) return found;
    const { items: rows, counter, conduitKey } = found.data;
    const [item] = rows;
    const order = orderOf(item, { maker: seller, days, counter, conduitKey }, context);
    if (isRejection(order)) return order;
    const approval = item?.approval.needed === false ? [] : [approveTokens(item, seller)];
    return {
      ...{ chainId, price: coinText(unitPriceWei, chainId), units, expires: order.expires },
      sellerGets: coinText(item?.sellerNetWei ?? "0", chainId),
      steps: [...approval, ...signAndPost(order.message, "asks", context)],
    };
  },
});

export const prepareOffer = preparingTool({
  name: "prepare_offer",
  title: "Prepare an offer",
  description:
    "What a bidder signs and sends to offer for a token, or without `tokenId` for any token of a collection, in the wrapped coin (WETH, WAPE): an approval where it is missing, the typed data, and where the signed order is posted. Nothing is signed.",
  fields: {
    ...{ collection: collectionArgument, tokenId: tokenIdArgument.optional() },
    ...{ bidder: walletArgument, price, units, days },
  },
  answer: async ({ collection, tokenId, bidder, price, units, days }, context) => {
    const { chainId } = context;
    const contract = await contractOf({ collection, tokenId }, context);
    if (typeof contract !== "string") return contract;
    const named = tokenId === undefined ? { kind: "collection" } : { kind: "item", tokenId };
    const items = [{ ...named, contract, amountWei: `${parseEther(price)}`, quantity: units }];
    const found = await read(bidRequirements, { body: { chainId, maker: bidder, items } }, context);
    if (isRejection(found)) return found;
    const { items: rows, counter, conduitKey, currency, ...money } = found.data;
    const [item] = rows;
    const order = orderOf(item, { maker: bidder, days, counter, conduitKey }, context);
    if (isRejection(order)) return order;
    const textOf = (wei: string) => amountText(wei, currency);
    const { requiredAllowanceWei: wei, seaport: spender } = money;
    const mayTake = BigInt(money.allowanceWei) >= BigInt(wei);
    const approved = { token: currency.address, spender: spender as Address, from: bidder };
    const approval = mayTake ? [] : [approveMoney(approved, { wei, text: textOf(wei) })];
    return {
      ...{ chainId, price: textOf(`${parseEther(price)}`), units, expires: order.expires },
      sellerGets: textOf(item?.sellerNetWei ?? "0"),
      balance: textOf(money.balanceWei),
      steps: [...approval, ...signAndPost(order.message, "bids", context)],
    };
  },
});

type Named = { collection: string; tokenId: string | undefined };

/** The contract that an order is about: of the token, or the only one of the collection. */
async function contractOf({ collection: name, tokenId }: Named, context: ToolContext) {
  if (tokenId !== undefined) {
    const found = await read(token, { params: { collection: name, tokenId } }, context);
    return isRejection(found) ? found : found.data.contract;
  }
  if (name.startsWith("0x")) return name;
  const found = await read(collection, { params: { collection: name } }, context);
  if (isRejection(found)) return found;
  const [first, ...others] = found.data.contracts;
  if (first !== undefined && others.length === 0) return first.address;
  const addresses = found.data.contracts.map(({ address }) => address).join(", ");
  return reject("invalid_parameters", `collection: name one of its contracts: ${addresses}`);
}

type Requirement = {
  readonly blocked: string | null;
  readonly message: string | null;
  readonly orderType: number | null;
  readonly offer: readonly object[] | null;
  readonly consideration: readonly { readonly recipient: string | null }[] | null;
};
type Signing = { maker: string; days: number; counter: string; conduitKey: string };

/** The message that the maker signs; refused as the order would be. */
function orderOf(
  item: Requirement | undefined,
  { maker, days, counter, conduitKey }: Signing,
  { market, now }: ToolContext,
) {
  if (item === undefined) throw new Error("no requirement of the requested order");
  if (item.blocked !== null) return reject(item.blocked, item.message ?? item.blocked);
  if (item.offer === null || item.consideration === null)
    return reject("unavailable", "What to sign is unknown at present; try again");
  const startTime = Math.floor(now().getTime() / 1_000);
  const endTime = startTime + days * 86_400;
  const salt = concatHex([saltPrefix(market.prefix), bytesToHex(randomBytes(28))]);
  const message = {
    ...{ offerer: maker, zone: zeroAddress, offer: item.offer, consideration: item.consideration },
    ...{ orderType: item.orderType, startTime: `${startTime}`, endTime: `${endTime}` },
    ...{ zoneHash: zeroHash, salt: `${BigInt(salt)}`, conduitKey, counter },
  };
  return { message, expires: new Date(endTime * 1_000).toISOString() };
}

type Approval = {
  readonly contract: string;
  readonly approval: { readonly operator: string; readonly token: string };
};

function approveTokens(item: Approval | undefined, from: string): SendStep {
  if (item === undefined) throw new Error("no requirement of the requested order");
  const { operator, token } = item.approval;
  const data = encodeFunctionData({
    abi: erc721Abi,
    functionName: "setApprovalForAll",
    args: [operator as Address, true],
  });
  const does = "Let the marketplaces' conduit move sold tokens of this contract";
  return { action: "send", does, from, to: token, data, valueWei: "0" };
}

/** `parameters` and `signature` of the body are those of the step before. */
function signAndPost(message: object, list: "asks" | "bids", { chainId, media }: ToolContext) {
  const { domain, types, primaryType } = signingParams(chainId as ChainId);
  const seaport = { parameters: "<message>", signature: "<signature>" };
  return [
    { action: "sign", does: "Sign the order (EIP-712)", domain, types, primaryType, message },
    {
      ...{ action: "post", does: "Post the order: message and signature of the step before" },
      ...{ url: `${media.baseUrl}/v1/orders/${list}`, body: { chainId, seaport } },
    },
  ];
}
