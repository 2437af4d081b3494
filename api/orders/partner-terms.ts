import { LRUCache } from "lru-cache";
import { type Address, type Hex, zeroAddress } from "viem";
import { commonConduit } from "#abis/deployments.ts";
import type { ChainId } from "#chains/index.ts";
import type { Partner } from "#jobs/partners/partner.ts";
import { withinMs } from "#jobs/runner/limits.ts";
import { isRejection, type Rejection, reject } from "#projections/domain/rejection.ts";
import { draftListingComponents } from "#projections/domain/seaport/draft-components.ts";
import { itemType, type OrderComponents } from "#projections/domain/seaport/order-components.ts";

export type PartnerFee = {
  recipient: Address;
  bps: number;
  isRequired: boolean;
  /** Whether it is the partner's own fee; else a creator's. */
  isService: boolean;
};

/** Requirements of the partner that are the same for every listing. */
export const partnerOrderForm = {
  conduitKey: commonConduit.key satisfies Hex,
  /** The partner's signed zone, which the exchange calls for order types 2 and 3. */
  zone: "0x000056f7000000ece9003ca63978907a00ffd100" satisfies Address as Address,
  zoneHash: `0x${"00".repeat(32)}` as Hex,
  /** Six months. */
  maximumSeconds: 184 * 86_400,
} as const;

/** The fees of a partner for listings of a contract. */
export type PartnerTerms = { fees: readonly PartnerFee[] };

type PartnerTermsRejection = Rejection<"partner_unavailable" | "partner_requirements_unmet">;
type PartnerTermsResult = PartnerTerms | PartnerTermsRejection;

const cacheLimits = { max: 5_000, ttl: 10 * 60_000 };
const failureCacheMs = 5_000;
const maxWaitMs = 3_000;

type CachedTerms = Promise<PartnerTermsResult>;

const cacheByPartner = new WeakMap<Partner, LRUCache<string, CachedTerms>>();

/**
 * The terms of a contract, cached for ten minutes; waits 3 s at most. `partner_unavailable`: the partner does not
 * answer; `partner_requirements_unmet`: it has no such collection.
 */
export async function fetchPartnerTerms(
  partner: Partner,
  chainId: ChainId,
  contract: Address,
  caller?: string,
): Promise<PartnerTermsResult> {
  const terms = cachedTerms(partner, chainId, contract, caller);
  return await withinMs(maxWaitMs, terms, () => unavailable(partner));
}

/** The terms of the contracts that the partner has terms for. */
export async function fetchPartnerTermsByContract(
  partners: readonly Partner[],
  chainId: ChainId,
  contracts: readonly Address[],
  caller: string,
): Promise<Map<Address, PartnerTerms>> {
  const partner = findPostingPartner(partners, chainId);
  if (partner === null) return new Map();
  const found = await Promise.all(
    [...new Set(contracts)].map(async (contract) => ({
      contract,
      terms: await fetchPartnerTerms(partner, chainId, contract, caller),
    })),
  );
  return new Map(
    found.flatMap(({ contract, terms }) => (isRejection(terms) ? [] : [[contract, terms]])),
  );
}

function cachedTerms(
  partner: Partner,
  chainId: ChainId,
  contract: Address,
  caller: string | undefined,
): Promise<PartnerTermsResult> {
  const cache = cacheByPartner.get(partner) ?? new LRUCache<string, CachedTerms>(cacheLimits);
  cacheByPartner.set(partner, cache);
  const key = `${chainId}/${contract}`;
  const cached = cache.get(key);
  if (cached !== undefined) return cached;
  const result = requestTerms(partner, chainId, contract, caller);
  cache.set(key, result);
  void result.then((terms) => {
    if (isRejection(terms)) cache.set(key, result, { ttl: failureCacheMs });
  });
  return result;
}

async function requestTerms(
  partner: Partner,
  chainId: ChainId,
  contract: Address,
  caller: string | undefined,
): Promise<PartnerTermsResult> {
  const found = await partner.fetchCollection?.(chainId, contract, caller);
  if (found === undefined) return unavailable(partner);
  if (!isRejection(found)) return { fees: found.fees };
  return found.rejected === "not_found"
    ? reject("partner_requirements_unmet", `${partner.name} has no collection for ${contract}`)
    : unavailable(partner);
}

const unavailable = ({ name }: Partner): PartnerTermsRejection =>
  reject("partner_unavailable", `${name} is unavailable`);

/** The partner that cross-listings of the chain are posted to. */
export function findPostingPartner(partners: readonly Partner[], chainId: ChainId): Partner | null {
  const acceptsListings = ({ postListing, chainIds }: Partner) =>
    postListing !== undefined && chainIds.includes(chainId);
  return partners.find(acceptsListings) ?? null;
}

export type CrossListingDraft = {
  fees: readonly PartnerFee[];
  /** Per unit, wei. */
  sellerNetWei: bigint;
  /** To be signed once times, salt and counter are filled in. */
  components: OrderComponents;
};

type ListingIntent = {
  maker: Address;
  contract: Address;
  tokenId: bigint;
  quantity: bigint;
  unitPriceWei: bigint;
  standard: "erc721" | "erc1155" | null;
};

/** Offset from the open to the restricted order types, which call the zone. Seaport `OrderType`. */
const restricted = 2;

/** The cross-listing at the listing's price with the partner's required fees; null: nothing can be signed. */
export function draftCrossListing(
  intent: ListingIntent,
  terms: PartnerTerms | undefined,
): CrossListingDraft | null {
  const { standard, unitPriceWei, quantity, maker } = intent;
  if (terms === undefined || standard === null) return null;
  const feeLegs = terms.fees
    .filter(({ isRequired }) => isRequired)
    .map(({ recipient, bps }) => ({ recipient, unitWei: (unitPriceWei * BigInt(bps)) / 10_000n }))
    .filter(({ unitWei }) => unitWei > 0n);
  const sellerNetWei = feeLegs.reduce((left, { unitWei }) => left - unitWei, unitPriceWei);
  if (sellerNetWei <= 0n) return null;
  const price = { unitPriceWei: sellerNetWei, fee: { recipient: maker, bps: 0 }, royalty: null };
  const placeholders = { maker, startTime: 0n, endTime: 0n, salt: 0n, counter: 0n };
  const listing = draftListingComponents({
    ...placeholders,
    nft: { ...intent, standard },
    quantity,
    price,
  });
  const legs = feeLegs.map(({ recipient, unitWei }) => ({
    itemType: itemType.native,
    token: zeroAddress,
    identifierOrCriteria: 0n,
    recipient,
    startAmount: unitWei * quantity,
    endAmount: unitWei * quantity,
  }));
  return {
    fees: terms.fees,
    sellerNetWei,
    components: {
      ...listing,
      zone: partnerOrderForm.zone,
      zoneHash: partnerOrderForm.zoneHash,
      conduitKey: partnerOrderForm.conduitKey,
      orderType: listing.orderType + restricted,
      consideration: [...listing.consideration, ...legs],
    },
  };
}
