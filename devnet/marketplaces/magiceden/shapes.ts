import { type Address, zeroAddress } from "viem";
import { seaport } from "#abis/deployments.ts";
import { chainNameAt } from "#chains/partners.ts";
import { presentedTerms } from "../corrupt-responses.ts";
import { type StoredListing, totalWei } from "../listing-store.ts";
import { symbolOf } from "../local-currencies.ts";
import { presentWhole } from "../seaport-shapes.ts";
import { partnerFeeRecipients } from "../stand-in-collections.ts";
import type { StandInRequest } from "../stand-in-server.ts";

const statuses: Record<StoredListing["status"], string> = {
  active: "active",
  filled: "filled",
  cancelled: "cancelled",
  withdrawn: "inactive",
};

export const statusAt = (shown: StoredListing, now: number): string =>
  shown.status === "active" && shown.order.components.endTime <= BigInt(now)
    ? "expired"
    : statuses[shown.status];

const iso = (seconds: number | bigint) => new Date(Number(seconds) * 1000).toISOString();

const tokenOf = (shown: StoredListing): Address =>
  shown.order.components.consideration[0]?.token ?? zeroAddress;

const bpsOf = ({ order }: StoredListing, wei: bigint): number =>
  Number((wei * 10_000n) / (totalWei(order) || 1n));

/** Legs after the seller's: Magic Eden's own, and the creator's. */
function feesOf(shown: StoredListing) {
  return shown.order.components.consideration.slice(1).map((leg) => ({
    bps: bpsOf(shown, leg.startAmount),
    kind: leg.recipient === partnerFeeRecipients.magiceden ? "marketplace" : "royalty",
    recipient: leg.recipient,
  }));
}

const amount = (wei: bigint) => ({
  raw: `${wei}`,
  decimal: Number(wei) / 1e18,
  usd: 1,
  native: Number(wei) / 1e18,
});

/** A listing in Reservoir's form, times in unix seconds; raw data is the order itself with its signature. */
export function presentOrder(
  shown: StoredListing,
  request: StandInRequest & { hasRawData: boolean },
) {
  const { order, contract, tokenId, quantity, remaining } = shown;
  const { components } = order;
  const { hash: id, wei } = presentedTerms(shown, request);
  const netWei = components.consideration[0]?.startAmount ?? 0n;
  const fees = feesOf(shown);
  const symbol = symbolOf(shown);
  return {
    id,
    kind: "seaport-v1.6",
    side: "sell",
    status: statusAt(shown, request.now),
    tokenSetId: `token:${contract}:${tokenId}`,
    tokenSetSchemaHash: shown.orderHash,
    contract,
    contractKind: components.offer[0]?.itemType === 3 ? "erc1155" : "erc721",
    maker: components.offerer,
    taker: zeroAddress,
    price: {
      currency: { contract: tokenOf(shown), name: symbol, symbol, decimals: 18 },
      amount: amount(wei / quantity),
      netAmount: amount(netWei / quantity),
    },
    validFrom: Number(components.startTime),
    validUntil: Number(components.endTime),
    quantityFilled: Number(quantity - remaining),
    quantityRemaining: Number(remaining),
    dynamicPricing: null,
    criteria: { kind: "token", data: { token: { tokenId: `${tokenId}` } } },
    source: { id: contract, domain: "magiceden.io", name: "Magic Eden", icon: "", url: "" },
    feeBps: fees.reduce((sum, { bps }) => sum + bps, 0),
    feeBreakdown: fees,
    expiration: Number(components.endTime),
    isReservoir: false,
    isDynamic: false,
    createdAt: iso(shown.listedAt),
    updatedAt: iso(shown.updatedAt),
    originatedAt: iso(shown.listedAt),
    ...(request.hasRawData ? { rawData: rawData(shown) } : {}),
  };
}

function rawData({ order: { components, signature } }: StoredListing) {
  const { startTime, endTime } = components;
  return {
    kind: "single-token",
    ...presentWhole(components),
    startTime: Number(startTime),
    endTime: Number(endTime),
    signature,
  };
}

/** A listing in the form that Magic Eden publishes. */
export function presentAsk(shown: StoredListing, request: StandInRequest) {
  const { order, chainId, contract, tokenId, quantity, remaining } = shown;
  const { hash: id, wei } = presentedTerms(shown, request);
  const symbol = symbolOf(shown);
  const fees = feesOf(shown);
  const sumOf = (kind: string) =>
    fees.filter((fee) => fee.kind === kind).reduce((sum, { bps }) => sum + bps, 0);
  return {
    id,
    kind: "ASK",
    status: statusAt(shown, request.now),
    maker: order.components.offerer,
    price: {
      amount: { raw: `${wei / quantity}`, native: `${Number(wei / quantity) / 1e18}` },
      currency: { contract: tokenOf(shown), symbol, decimals: 18, displayName: symbol },
    },
    quantity: { filled: `${quantity - remaining}`, remaining: `${remaining}` },
    expiry: {
      validFrom: iso(order.components.startTime),
      validUntil: iso(order.components.endTime),
    },
    source: "MAGICEDEN",
    fees: {
      royaltyBp: sumOf("royalty"),
      makerMarketplaceBp: sumOf("marketplace"),
      takerMarketplaceBp: 0,
      lpFeeBp: 0,
    },
    createdAt: iso(shown.listedAt),
    updatedAt: iso(shown.updatedAt),
    assetId: `${contract}:${tokenId}`,
    chain: chainNameAt("magiceden", chainId),
    protocol: order.components.offer[0]?.itemType === 3 ? "ERC1155" : "ERC721",
    contract: seaport["1.6"],
    contractData: { orderContractKind: "seaport-v1.6" },
  };
}
