import { type Address, numberToHex, zeroAddress } from "viem";
import { seaportAddresses } from "#abis/deployments.ts";
import { type ChainId, wrappedNative } from "#chains/index.ts";
import { chainNameAt } from "#chains/partners.ts";
import { signedZone } from "#devnet/contracts/addresses.ts";
import { type StoredListing, totalWei } from "../listing-store.ts";
import { currenciesOf, presentCounter, presentItem, symbolOf } from "../seaport-shapes.ts";
import {
  partnerFeeBps,
  partnerFeeRecipients,
  type StandInCollection,
} from "../stand-in-collections.ts";
import { presentedTerms, type StandInRequest } from "../stand-in-server.ts";

export function presentCollection(collection: StandInCollection) {
  const { chainId, slug, name, contract, creatorFees } = collection;
  const openSeaFee = {
    recipient: partnerFeeRecipients.opensea,
    bps: partnerFeeBps.opensea,
    isRequired: true,
  };
  const [native, wrapped] = currenciesOf(chainId);
  return {
    collection: slug,
    name,
    description: `${name} of a local chain`,
    image_url: "",
    banner_image_url: "",
    owner: zeroAddress,
    safelist_status: "verified",
    category: "",
    is_disabled: false,
    is_nsfw: false,
    trait_offers_enabled: true,
    collection_offers_enabled: true,
    opensea_url: `https://opensea.io/collection/${slug}`,
    project_url: "",
    wiki_url: "",
    discord_url: "",
    telegram_url: "",
    twitter_username: "",
    instagram_username: "",
    contracts: [{ address: contract, chain: chainNameAt("opensea", chainId) }],
    editors: [],
    fees: [openSeaFee, ...creatorFees].map(({ recipient, bps, isRequired }) => ({
      fee: bps / 100,
      recipient,
      required: isRequired,
    })),
    required_zone: signedZone,
    total_supply: 100,
    unique_item_count: 100,
    created_date: "2024-01-01",
    pricing_currencies: {
      listing_currency: presentCurrency(chainId, native, zeroAddress),
      offer_currency: presentCurrency(chainId, wrapped, wrappedNative[chainId]),
    },
  };
}

const presentCurrency = (chainId: ChainId, symbol: string, address: Address) => ({
  symbol,
  address,
  chain: chainNameAt("opensea", chainId),
  image: "",
  name: symbol,
  decimals: 18,
  eth_price: "1.0",
  usd_price: "1.0",
});

export const presentContract = ({
  chainId,
  contract,
  slug,
  name,
  standard,
}: StandInCollection) => ({
  address: contract,
  chain: chainNameAt("opensea", chainId),
  collection: slug,
  contract_standard: standard,
  name,
});

/** An order's parameters as pages and fulfilments carry them: the salt in hex, the counter beside them. */
export function presentParameters({ order: { components } }: StoredListing) {
  return {
    offerer: components.offerer,
    offer: components.offer.map(presentItem),
    consideration: components.consideration.map(presentItem),
    startTime: `${components.startTime}`,
    endTime: `${components.endTime}`,
    orderType: components.orderType,
    zone: components.zone,
    zoneHash: components.zoneHash,
    salt: numberToHex(components.salt),
    conduitKey: components.conduitKey,
    totalOriginalConsiderationItems: components.consideration.length,
    counter: presentCounter(components.counter),
  };
}

const statuses: Record<StoredListing["status"], string> = {
  active: "ACTIVE",
  filled: "FULFILLED",
  cancelled: "CANCELLED",
  withdrawn: "INACTIVE",
};

const statusAt = (shown: StoredListing, now: number): string =>
  shown.status === "active" && shown.order.components.endTime <= BigInt(now)
    ? "EXPIRED"
    : statuses[shown.status];

/** A listing without its signature, which comes with the fulfilment data alone. */
export function presentListing(shown: StoredListing, request: StandInRequest) {
  const { hash, wei } = presentedTerms(shown, request);
  return {
    order_hash: hash,
    chain: chainNameAt("opensea", shown.chainId),
    protocol_data: { parameters: presentParameters(shown) },
    protocol_address: seaportAddresses["1.6"],
    asset: { identifier: `${shown.tokenId}`, contract: shown.contract },
    remaining_quantity: Number(shown.remaining),
    order_created_at: shown.listedAt,
    price: { current: { currency: symbolOf(shown), decimals: 18, value: `${wei}` } },
    type: "basic",
    status: statusAt(shown, request.now),
  };
}

/** The listing in the format of the older endpoint. */
export function presentOldListing(shown: StoredListing, request: StandInRequest) {
  const { components } = shown.order;
  const { hash, wei } = presentedTerms(shown, request);
  const [listedAt, endTime] = [shown.listedAt, Number(components.endTime)];
  const iso = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, -1);
  const account = (address: Address) => ({ user: null, profile_img_url: "", address, config: "" });
  const takenWei = totalWei(shown.order) / 10_000n;
  return {
    created_date: iso(listedAt),
    closing_date: iso(endTime).slice(0, -4),
    listing_time: Number(components.startTime),
    expiration_time: endTime,
    order_hash: hash,
    protocol_data: { parameters: presentParameters(shown), signature: null },
    protocol_address: seaportAddresses["1.6"],
    current_price: `${wei}`,
    maker: { ...account(components.offerer), user: 1 },
    taker: null,
    maker_fees: components.consideration.slice(1).map((leg) => ({
      account: account(leg.recipient),
      basis_points: `${leg.startAmount / (takenWei || 1n)}`,
    })),
    taker_fees: [],
    side: "ask",
    order_type: "basic",
    cancelled: false,
    finalized: false,
    marked_invalid: false,
    remaining_quantity: Number(shown.remaining),
    relay_id: `${shown.sequence}`,
    criteria_proof: null,
    maker_asset_bundle: {
      assets: [{ token_id: `${shown.tokenId}`, asset_contract: { address: shown.contract } }],
    },
    taker_asset_bundle: { assets: [{ token_id: "0", decimals: 18 }] },
  };
}
