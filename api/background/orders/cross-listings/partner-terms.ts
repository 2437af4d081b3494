import { setTimeout as delay } from "node:timers/promises";
import type { Address, Hex } from "viem";
import { commonConduit } from "#abis/deployments.ts";
import type { ChainId } from "#chains/index.ts";
import { isRejection, type Rejection, reject } from "#projections/domain/rejection.ts";
import type { Partner } from "#jobs/partners/partner.ts";

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
export type PartnerTermsResult = PartnerTerms | PartnerTermsRejection;

const cacheMs = 10 * 60_000;
const failureCacheMs = 5_000;
const maxWaitMs = 3_000;
const maxCached = 5_000;

type CachedTerms = { result: Promise<PartnerTermsResult>; expiresAt: number };

const cacheByPartner = new WeakMap<Partner, Map<string, CachedTerms>>();

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
  const aborter = new AbortController();
  const timeout = delay(maxWaitMs, unavailable(partner), { signal: aborter.signal }).catch(() =>
    unavailable(partner),
  );
  try {
    return await Promise.race([cachedTerms(partner, chainId, contract, caller), timeout]);
  } finally {
    aborter.abort();
  }
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
  const cache = cacheByPartner.get(partner) ?? new Map<string, CachedTerms>();
  cacheByPartner.set(partner, cache);
  const key = `${chainId}/${contract}`;
  const cached = cache.get(key);
  if (cached !== undefined && cached.expiresAt > performance.now()) return cached.result;
  const entry: CachedTerms = {
    result: requestTerms(partner, chainId, contract, caller),
    expiresAt: performance.now() + cacheMs,
  };
  void entry.result.then((terms) => {
    if (isRejection(terms)) entry.expiresAt = performance.now() + failureCacheMs;
  });
  const [oldest] = cache.keys();
  if (oldest !== undefined && cache.size >= maxCached) cache.delete(oldest);
  cache.set(key, entry);
  return entry.result;
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
