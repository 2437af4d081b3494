import { Seaport } from "@opensea/seaport-js";
import { ItemType } from "@opensea/seaport-js/lib/constants";
import type { OrderWithCounter } from "@opensea/seaport-js/lib/types";
import { HDNodeWallet, Interface, JsonRpcProvider, NonceManager } from "ethers";
import { type Address, type Hex, parseEther } from "viem";
import { expect } from "vitest";
import { z } from "zod";
import { commonConduit } from "#abis/deployments.ts";
import { seaportFunctions } from "#abis/seaport.ts";
import { erc721Abi, erc1155Abi } from "#abis/tokens.ts";
import { type ChainId, wrappedNative } from "#chains/index.ts";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { type OrderBookFixture, openOrderBook } from "./order-book-fixture.ts";

type Person = "alice" | "bob" | "carol" | "dave" | "erin" | "frank" | "grace";

/** ERC-721: the stock's punks. ERC-1155: its editions. */
export type Standard = "erc721" | "erc1155";
const contractOf: Record<Standard, Address> = {
  erc721: contracts.punks,
  erc1155: contracts.editions,
};

const Requirement = z.looseObject({
  kind: z.string(),
  blocked: z.string().nullable(),
  message: z.string().nullable(),
  criteria: z
    .looseObject({ root: z.string(), tokenIds: z.array(z.string()), existing: z.number() })
    .nullable(),
  royalty: z.looseObject({ royaltyRecipient: z.string().nullable(), bps: z.number() }).nullable(),
  consideration: z.array(z.looseObject({ identifierOrCriteria: z.string() })).nullable(),
});

export const AcceptData = z.looseObject({
  to: z.string(),
  orders: z.array(z.unknown()),
  criteriaResolvers: z.array(z.looseObject({ criteriaProof: z.array(z.string()) })),
  fulfillments: z.array(z.unknown()),
  recipient: z.string(),
});
export type AcceptData = z.output<typeof AcceptData>;

export type CriteriaStage = Awaited<ReturnType<typeof openCriteriaStage>>;

/** A chain with its order book, on which OpenSea's client makes bids by criteria and sells into them with our data. */
export async function openCriteriaStage(chainId: ChainId) {
  const book = await openOrderBook(chainId);
  const provider = new JsonRpcProvider(book.node.url, undefined, {
    cacheTimeout: -1,
    batchMaxCount: 1,
  });
  const { alice } = book.actors;
  await alice.wraps(parseEther("1000"));
  await alice.allows(parseEther("1000"));
  await book.catchUp();
  const clientOf = (name: Person) => openClient(provider, name);
  return {
    ...{ book, chainId, contractOf },
    requirementOf: (item: object) => readRequirement(book, chainId, item),
    createBid: (of: BidOf) => createBid(clientOf("alice"), { book, chainId }, of),
    submit: (seaport: OrderWithCounter, criteria?: object) =>
      book.post("/v1/orders/bids", { chainId, seaport, ...(criteria && { criteria }) }),
    async acceptData(bidId: string, body: object): Promise<AcceptData> {
      const answer = await book.post(`/v1/bids/${bidId}/accept-data`, { chainId, ...body });
      expect(answer, JSON.stringify(answer)).toMatchObject({ status: 200 });
      return AcceptData.parse(answer.data);
    },
    send: (from: Person, data: AcceptData) => send(book, from, data),
    /** Sells a token into a signed bid with OpenSea's client and a proof. */
    async fulfills(from: Person, order: OrderWithCounter, sale: Sale) {
      const { tokenId, proof, units } = sale;
      const { executeAllActions } = await clientOf(from).fulfillOrder({
        order,
        ...(units === undefined ? {} : { unitsToFill: units }),
        considerationCriteria: [{ identifier: `${tokenId}`, proof }],
        accountAddress: accounts[from].address,
      });
      return executeAllActions();
    },
    async holds(owner: Person, standard: Standard, tokenId: bigint): Promise<bigint> {
      const { address } = accounts[owner];
      if (standard === "erc1155")
        return book.client.readContract({
          ...{ address: contracts.editions, abi: erc1155Abi, functionName: "balanceOf" },
          args: [address, tokenId],
        });
      const holder = await book.client.readContract({
        ...{ address: contracts.punks, abi: erc721Abi, functionName: "ownerOf" },
        args: [tokenId],
      });
      return BigInt(holder === address);
    },
    async close() {
      provider.destroy();
      await book.close();
    },
  };
}

/** What the exchange says of a token that is not in the set that was signed. */
export const invalidProof = /InvalidProof|0x09bde339/;

type Sale = { tokenId: bigint; proof: string[]; units?: bigint };

const phrase = "test test test test test test test test test test test junk";
const names = Object.keys(accounts);

function openClient(provider: JsonRpcProvider, name: Person): Seaport {
  const path = `m/44'/60'/0'/0/${names.indexOf(name)}`;
  const wallet = HDNodeWallet.fromPhrase(phrase, undefined, path).connect(provider);
  return new Seaport(new NonceManager(wallet) as never, {
    conduitKeyToConduit: { [commonConduit.key]: commonConduit.address },
  });
}

async function readRequirement(book: OrderBookFixture, chainId: ChainId, item: object) {
  const body = { chainId, maker: accounts.alice.address, items: [item] };
  const answer = await book.post("/v1/bids/requirements", body);
  expect(answer, JSON.stringify(answer).slice(0, 2_000)).toMatchObject({ status: 200 });
  return Requirement.parse(answer.data.items[0]);
}

type BidOf = {
  standard: Standard;
  tokenIds: readonly bigint[];
  priceWei: bigint;
  quantity?: bigint;
};

/** With the fees that the requirements of any bid on the contract name. */
async function createBid(
  client: Seaport,
  { book, chainId }: { book: OrderBookFixture; chainId: ChainId },
  { standard, tokenIds, priceWei, quantity = 1n }: BidOf,
): Promise<OrderWithCounter> {
  const token = contractOf[standard];
  const item = { kind: "collection", contract: token, amountWei: `${priceWei}`, quantity: 1 };
  const { royalty } = await readRequirement(book, chainId, item);
  const recipient = accounts.alice.address;
  const creator = royalty?.royaltyRecipient
    ? [{ recipient: royalty.royaltyRecipient, basisPoints: royalty.bps }]
    : [];
  const identifiers = tokenIds.map(String);
  const { executeAllActions } = await client.createOrder({
    offer: [{ token: wrappedNative[chainId], amount: `${priceWei * quantity}` }],
    consideration: [
      standard === "erc721"
        ? { itemType: ItemType.ERC721, token, identifiers, recipient }
        : { itemType: ItemType.ERC1155, token, identifiers, amount: `${quantity}`, recipient },
    ],
    fees: [{ recipient: accounts.feeRecipient, basisPoints: 100 }, ...creator],
    allowPartialFills: quantity > 1n,
    endTime: Math.floor(Date.now() / 1000) + 86_400,
  });
  return executeAllActions();
}

/** Encodes the API's answer with another library, as a caller would. */
const encoder = new Interface(JSON.stringify(seaportFunctions));

async function send(book: OrderBookFixture, from: Person, data: AcceptData) {
  const { orders, criteriaResolvers, fulfillments, recipient } = data;
  const args = [orders, criteriaResolvers, fulfillments, recipient];
  const receipt = await book.client.sendTransactionSync({
    account: accounts[from],
    chain: book.client.chain,
    to: data.to as Address,
    data: encoder.encodeFunctionData("matchAdvancedOrders", args) as Hex,
    gas: 1_500_000n,
  });
  return receipt.status;
}
