import type { Address } from "viem";
import { seaportAddresses } from "#abis/deployments.ts";
import { seaportFunctions } from "#abis/seaport.ts";
import type { MakerChoices, Price } from "#projections/domain/seaport/draft-components.ts";
import type { OrderComponents, SignedOrder } from "#projections/domain/seaport/order-components.ts";
import {
  bulkOrderHash,
  bulkOrderTree,
  bulkSignature,
  exchangeDomain,
  orderHash,
  signingDigest,
} from "#projections/domain/seaport/order-hash.ts";
import { accounts } from "../accounts.ts";
import { collectionAbi, type MarketContext, type Signer } from "./signer.ts";

const serviceFee = { recipient: accounts.feeRecipient, bps: 100 };
const lifetimeSeconds = 30n * 24n * 60n * 60n;

/** Default terms of an order: valid from now for thirty days. */
export async function readTerms(
  { client, sending, random }: MarketContext,
  maker: Address,
): Promise<MakerChoices> {
  const [counter, startTime] = await Promise.all([
    client.readContract({
      address: seaportAddresses["1.6"],
      abi: seaportFunctions,
      functionName: "getCounter",
      args: [maker],
    }),
    sending.now(),
  ]);
  const salt = random.between(0n, 2n ** 128n);
  return { maker, counter, salt, startTime, endTime: startTime + lifetimeSeconds };
}

/** The price with a marketplace's fee (default: the service's) and the contract's ERC-2981 royalty. */
export async function readPrice(
  market: MarketContext,
  nft: { contract: Address; tokenId: bigint },
  unitPriceWei: bigint,
  fee: Price["fee"] = serviceFee,
): Promise<Price> {
  return { unitPriceWei, fee, royalty: await readRoyalty(market, nft, unitPriceWei) };
}

async function readRoyalty(
  { client }: MarketContext,
  { contract, tokenId }: { contract: Address; tokenId: bigint },
  priceWei: bigint,
): Promise<Price["royalty"]> {
  const [recipient, royaltyWei] = await client.readContract({
    address: contract,
    abi: collectionAbi,
    functionName: "royaltyInfo",
    args: [tokenId, priceWei],
  });
  return { recipient, royaltyWei };
}

export async function signOrder(
  { chainId }: MarketContext,
  maker: Signer,
  components: OrderComponents,
): Promise<SignedOrder> {
  const digest = signingDigest(orderHash(components), exchangeDomain(chainId));
  return { components, signature: await maker.sign(digest) };
}

/** One signature over a tree of orders. */
export async function signBulkOrder(
  { chainId }: MarketContext,
  maker: Signer,
  orders: readonly OrderComponents[],
): Promise<SignedOrder[]> {
  const { root, height, proofs } = bulkOrderTree(orders.map(orderHash));
  const digest = signingDigest(bulkOrderHash(root, height), exchangeDomain(chainId));
  const base = await maker.sign(digest);
  return orders.map((components, index) => ({
    components,
    signature: bulkSignature(base, index, proofs[index] ?? []),
  }));
}
