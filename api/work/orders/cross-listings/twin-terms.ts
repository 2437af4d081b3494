import { setTimeout as delay } from "node:timers/promises";
import type { Address, Hex } from "viem";
import { type ChainId, commonConduit } from "../../../../abis/deployments.ts";
import { isRejection, type Rejection, reject } from "../../../../projections/domain/rejection.ts";
import type { Partner } from "../../marketplaces/partner.ts";

export type TwinFee = {
  recipient: Address;
  bps: number;
  isRequired: boolean;
  /** Whether it is the partner's own; else a creator's. */
  isService: boolean;
};

/** What a partner asks of a listing, whatever it is of. */
export const twinForm = {
  conduitKey: commonConduit.key satisfies Hex,
  /** The partner's signed zone; order types 2 and 3 ask it. */
  zone: "0x000056f7000000ece9003ca63978907a00ffd100" satisfies Address as Address,
  zoneHash: `0x${"00".repeat(32)}` as Hex,
  /** Six months. */
  maximumSeconds: 184 * 86_400,
} as const;

/** What a partner takes of listings of a contract. */
export type TwinTerms = { fees: readonly TwinFee[] };

type Unknown = Rejection<"partner_unavailable" | "partner_requirements_unmet">;
export type FoundTerms = TwinTerms | Unknown;

const keptMs = 10 * 60_000;
const failureKeptMs = 5_000;
const waitMs = 3_000;
const keptAtMost = 5_000;

type Kept = { found: Promise<FoundTerms>; until: number };

const keptBy = new WeakMap<Partner, Map<string, Kept>>();

/**
 * The terms of a contract, asked for once in ten minutes and waited for 3 s at most. `partner_unavailable`: the partner
 * does not answer; `partner_requirements_unmet`: it knows no such collection.
 */
export async function fetchTwinTerms(
  partner: Partner,
  chainId: ChainId,
  contract: Address,
): Promise<FoundTerms> {
  const ending = new AbortController();
  const late = delay(waitMs, silent(partner), { signal: ending.signal }).catch(() =>
    silent(partner),
  );
  try {
    return await Promise.race([keptTerms(partner, chainId, contract), late]);
  } finally {
    ending.abort();
  }
}

/** Those of the contracts that the partner tells. */
export async function fetchAllTwinTerms(
  partners: readonly Partner[],
  chainId: ChainId,
  contracts: readonly Address[],
): Promise<Map<Address, TwinTerms>> {
  const partner = twinPartner(partners, chainId);
  if (partner === null) return new Map();
  const found = await Promise.all(
    [...new Set(contracts)].map(async (contract) => ({
      contract,
      terms: await fetchTwinTerms(partner, chainId, contract),
    })),
  );
  return new Map(
    found.flatMap(({ contract, terms }) => (isRejection(terms) ? [] : [[contract, terms]])),
  );
}

function keptTerms(partner: Partner, chainId: ChainId, contract: Address): Promise<FoundTerms> {
  const kept = keptBy.get(partner) ?? new Map<string, Kept>();
  keptBy.set(partner, kept);
  const key = `${chainId}/${contract}`;
  const known = kept.get(key);
  if (known !== undefined && known.until > performance.now()) return known.found;
  const one: Kept = {
    found: askTerms(partner, chainId, contract),
    until: performance.now() + keptMs,
  };
  void one.found.then((found) => {
    if (isRejection(found)) one.until = performance.now() + failureKeptMs;
  });
  const [oldest] = kept.keys();
  if (oldest !== undefined && kept.size >= keptAtMost) kept.delete(oldest);
  kept.set(key, one);
  return one.found;
}

async function askTerms(
  partner: Partner,
  chainId: ChainId,
  contract: Address,
): Promise<FoundTerms> {
  const found = await partner.fetchCollection?.(chainId, contract);
  if (found === undefined) return silent(partner);
  if (!isRejection(found)) return { fees: found.fees };
  return found.rejected === "not_found"
    ? reject("partner_requirements_unmet", `${partner.name} knows no collection of ${contract}`)
    : silent(partner);
}

const silent = ({ name }: Partner): Unknown =>
  reject("partner_unavailable", `${name} does not answer what it requires`);

/** The partner that takes listings of the chain from here. */
export function twinPartner(partners: readonly Partner[], chainId: ChainId): Partner | null {
  const takes = ({ postListing, chainIds }: Partner) =>
    postListing !== undefined && chainIds.includes(chainId);
  return partners.find(takes) ?? null;
}
