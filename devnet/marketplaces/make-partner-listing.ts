import { type Address, encodeFunctionData, type Hex, type LocalAccount } from "viem";
import { commonConduit } from "#abis/deployments.ts";
import { erc721Abi } from "#abis/tokens.ts";
import { wrappedNative } from "#chains/index.ts";
import { listingComponents, type MakerChoices, type Nft, type Price } from "#projections/domain/seaport/draft-components.ts";
import { itemType, type OrderComponents, orderType, type SignedOrder } from "#projections/domain/seaport/order-components.ts";
import { signedZone } from "../contracts/addresses.ts";
import { readTerms, signOrder } from "../market/signed-orders.ts";
import { accountSigner, type MarketContext } from "../market/signer.ts";
import { partnerFeeBps, partnerFeeRecipients, type StandInCollection } from "./stand-in-collections.ts";

export type PartnerName = keyof typeof partnerFeeRecipients;

/** What a maker sells at a partner marketplace, and for what. */
export type PartnerSale = {
  partner: PartnerName;
  maker: LocalAccount;
  nft: Nft;
  /** Per unit. */
  priceWei: bigint;
  quantity?: bigint;
  /** The exchange fills all units at once or none. */
  isWhole?: boolean;
  /** `wrapped`: WETH or WAPE. */
  currency?: "native" | "wrapped";
  durationSeconds?: number;
  creatorFees?: StandInCollection["creatorFees"];
};

/** Makes and signs a listing as the partner's own site does, and lets the common conduit move the token. */
export async function makePartnerListing(
  market: MarketContext,
  sale: PartnerSale,
): Promise<SignedOrder> {
  const maker = accountSigner(market, sale.maker);
  await openConduit(market, sale);
  const terms = await readTerms(market, maker.address);
  return signOrder(market, maker, partnerComponents(market.chainId, terms, sale));
}

async function openConduit(market: MarketContext, { maker, nft }: PartnerSale): Promise<void> {
  const args = [maker.address, commonConduit.address] as const;
  const asked = {
    address: nft.contract,
    abi: erc721Abi,
    functionName: "isApprovedForAll",
  } as const;
  if (await market.client.readContract({ ...asked, args })) return;
  await accountSigner(market, maker).transact({
    to: nft.contract,
    data: encodeFunctionData({
      abi: erc721Abi,
      functionName: "setApprovalForAll",
      args: [commonConduit.address, true],
    }),
  });
}

/** Order types from here on ask the order's zone. Seaport `OrderType`. */
const restricted = 2;

/** The partner's form of a listing: `opensea` restricts it to its zone and tags the salt, `magiceden` leaves it open. */
export function partnerComponents(
  chainId: MarketContext["chainId"],
  terms: MakerChoices,
  sale: Omit<PartnerSale, "maker">,
): OrderComponents {
  const { partner, nft, priceWei, quantity = 1n, currency = "native", durationSeconds } = sale;
  const { isWhole = false } = sale;
  const listing = listingComponents({ ...terms, nft, quantity, price: priceOf(sale, priceWei) });
  const endTime =
    durationSeconds === undefined ? terms.endTime : terms.startTime + BigInt(durationSeconds);
  const paid = inCurrency(currency === "native" ? null : wrappedNative[chainId]);
  const consideration = listing.consideration.map(paid);
  const type = isWhole ? orderType.fullOpen : listing.orderType;
  const shared = { ...listing, endTime, consideration, orderType: type };
  if (partner === "magiceden") return shared;
  return {
    ...shared,
    zone: signedZone,
    orderType: type + restricted,
    salt: openSeaSalt(terms.salt),
  };
}

function priceOf({ partner, creatorFees = [] }: Omit<PartnerSale, "maker">, wei: bigint): Price {
  const [creator] = creatorFees;
  return {
    unitPriceWei: wei,
    fee: { recipient: partnerFeeRecipients[partner], bps: partnerFeeBps[partner] },
    royalty: creator
      ? { recipient: creator.recipient, royaltyWei: (wei * BigInt(creator.bps)) / 10_000n }
      : null,
  };
}

const inCurrency = (token: Address | null) => (leg: OrderComponents["consideration"][number]) =>
  token === null ? leg : { ...leg, itemType: itemType.erc20, token };

/** The first four bytes say who made the order, the last eight make it one of its kind. */
function openSeaSalt(salt: bigint): bigint {
  const tag: Hex = "0x360c6ebe";
  return (BigInt(tag) << 224n) | BigInt.asUintN(64, salt ^ (salt >> 64n));
}
