import { Seaport } from "@opensea/seaport-js";
import { ItemType } from "@opensea/seaport-js/lib/constants";
import type {
  CreateOrderInput,
  OrderComponents,
  OrderWithCounter,
} from "@opensea/seaport-js/lib/types";
import { HDNodeWallet, JsonRpcProvider } from "ethers";
import type { Address, Hex } from "viem";
import { z } from "zod";
import { commonConduit } from "#abis/deployments.ts";
import { accounts } from "#devnet/accounts.ts";
import type { Person, TestChain } from "../orders/test-chains.ts";
import type { Answer, OrderInput } from "./trader.ts";

const phrase = "test test test test test test test test test test test junk";
const names = Object.keys(accounts);

const royalty = z.looseObject({ royaltyRecipient: z.string().nullable(), bps: z.number() });
const Params = z.looseObject({
  zone: z.string(),
  zoneHash: z.string(),
  conduitKey: z.string(),
  feeRecipient: z.string(),
  feeBps: z.number(),
  saltPrefix: z.string(),
  royalty: royalty.nullable(),
  offers: z.looseObject({ conduitKey: z.string(), royalty }),
});

const Record = z.looseObject({
  signature: z.string(),
  components: z.looseObject({ consideration: z.array(z.unknown()) }),
});

/** An account that creates, signs and fills orders with seaport-js, from the API's answers. */
export function openSeaportJs(testChain: TestChain, name: Person, marketPrefix: string) {
  const { chainId, rpcUrl } = testChain;
  const provider = new JsonRpcProvider(rpcUrl, undefined, { cacheTimeout: -1, batchMaxCount: 1 });
  const path = `m/44'/60'/0'/0/${names.indexOf(name)}`;
  const wallet = HDNodeWallet.fromPhrase(phrase, undefined, path).connect(provider);
  // Its published name of the signer is of another release of ethers.
  const client = new Seaport(wallet as never, {
    conduitKeyToConduit: { [commonConduit.key]: commonConduit.address },
  });
  const { get, post, statusOf } = testChain.trader(name);
  const maker = wallet.address.toLowerCase() as Address;
  const side = (id: "asks" | "bids") => `/v1/orders/${id}`;

  async function params(input: OrderInput, kind: "item" | "collection") {
    const query = new URLSearchParams({
      ...{ chainId: `${chainId}`, maker, contract: input.contract, kind },
      unitPriceWei: `${input.unitPriceWei}`,
      ...(input.tokenId === undefined ? {} : { tokenId: `${input.tokenId}` }),
    });
    const { body } = await get(`/v1/orders/params?${query}`);
    return Params.parse(body.data);
  }

  /** The market's requirements of every order, in the form of seaport-js. */
  async function terms(input: OrderInput, side: "listing" | "bid") {
    const found = await params(input, input.tokenId === undefined ? "collection" : "item");
    const { zone, zoneHash, feeRecipient, feeBps, offers } = found;
    const due = side === "bid" ? offers.royalty : found.royalty;
    const service = { recipient: feeRecipient, basisPoints: feeBps };
    const creator = due?.royaltyRecipient
      ? [{ recipient: due.royaltyRecipient, basisPoints: due.bps }]
      : [];
    return {
      ...{ zone, zoneHash, fees: [service, ...creator], domain: marketPrefix },
      conduitKey: side === "bid" ? offers.conduitKey : found.conduitKey,
      endTime: Math.floor(Date.now() / 1000) + 86_400,
    };
  }

  async function listing(input: OrderInput): Promise<CreateOrderInput> {
    const { quantity = 1n, unitPriceWei, contract, tokenId } = input;
    const isEdition = input.quantity !== undefined && quantity > 1n;
    const nft = { token: contract, identifier: `${tokenId}` };
    return {
      ...(await terms(input, "listing")),
      allowPartialFills: isEdition,
      offer: [
        isEdition
          ? { itemType: ItemType.ERC1155, ...nft, amount: `${quantity}` }
          : { itemType: ItemType.ERC721, ...nft },
      ],
      consideration: [{ amount: `${unitPriceWei * quantity}`, recipient: maker }],
    };
  }

  async function bid(input: OrderInput): Promise<CreateOrderInput> {
    const { contract, tokenId, unitPriceWei } = input;
    return {
      ...(await terms(input, "bid")),
      offer: [{ token: testChain.currency, amount: `${unitPriceWei}` }],
      consideration: [
        tokenId === undefined
          ? { itemType: ItemType.ERC721, token: contract, criteria: "0", recipient: maker }
          : {
              itemType: ItemType.ERC721,
              token: contract,
              identifier: `${tokenId}`,
              recipient: maker,
            },
      ],
    };
  }

  async function create(input: CreateOrderInput): Promise<OrderWithCounter> {
    return (await client.createOrder(input)).executeAllActions();
  }

  /** The signed order as the API returns it. */
  async function record(kind: "asks" | "bids", id: string): Promise<OrderWithCounter> {
    const { body } = await get(`${side(kind)}/${id}/components?chainId=${chainId}`);
    const { components, signature } = Record.parse(body.data);
    const totalOriginalConsiderationItems = components.consideration.length;
    const parameters = { ...components, totalOriginalConsiderationItems };
    return { parameters: parameters as unknown as OrderComponents, signature };
  }

  async function mined(response: { hash: string }) {
    const { hash } = response;
    return testChain.client.waitForTransactionReceipt({ hash: hash as Hex });
  }

  return {
    maker,
    client,
    statusOf,
    get,
    post,
    params,
    record,
    mined,
    createListing: async (input: OrderInput) => create(await listing(input)),
    async createListings(listingInputs: readonly OrderInput[]): Promise<OrderWithCounter[]> {
      const inputs = [];
      for (const input of listingInputs) inputs.push(await listing(input));
      return (await client.createBulkOrders(inputs)).executeAllActions();
    },
    createBid: async (input: OrderInput) => create(await bid(input)),
    submit: (kind: "asks" | "bids", seaport: OrderWithCounter): Promise<Answer> =>
      post(side(kind), { chainId, seaport }),
    /** Fills one stored order. */
    async fills(
      kind: "asks" | "bids",
      id: string,
      more: Partial<Parameters<Seaport["fulfillOrder"]>[0]> = {},
    ) {
      const order = await record(kind, id);
      const { executeAllActions } = await client.fulfillOrder({
        order,
        domain: marketPrefix,
        ...more,
      });
      return mined(await executeAllActions());
    },
    close: () => provider.destroy(),
  };
}

export type SeaportJs = ReturnType<typeof openSeaportJs>;
