import type { Hex } from "viem";
import { seaportAddresses } from "#abis/deployments.ts";
import type { ChainId } from "#chains/index.ts";
import { queryChainOrReject } from "#jobs/orders/evaluate-order.ts";
import { parsePartnerListing, type RejectReason } from "#jobs/partners/parse-listing.ts";
import type { Partner } from "#jobs/partners/partner.ts";
import type { OrderBody } from "#projections/domain/orders/order-terms.ts";
import type { PartnerName } from "#projections/domain/partners.ts";
import { isRejection, type Rejection, reject } from "#projections/domain/rejection.ts";
import type { OrderComponents } from "#projections/domain/seaport/order-components.ts";
import { verifySignature } from "#projections/domain/seaport/signature.ts";
import { unixSeconds } from "#projections/orders/read-orders.ts";
import type { SubmittedCrossListing } from "#projections/partners/cross-listings.ts";
import type { PartnerListing } from "#projections/partners/partner-listing.ts";
import { recoverSigner } from "./intake/parse.ts";
import type { Market } from "./market.ts";
import {
  fetchPartnerTerms,
  type PartnerFee,
  type PartnerTerms,
  partnerOrderForm,
} from "./partner-terms.ts";

export type RequirementsUnmet = Rejection<"partner_requirements_unmet">;

export type ParsedCrossListing = {
  chainId: ChainId;
  partnerOrderHash: Hex;
  body: OrderBody;
  /** The native listing. */
  listing: { orderHash: Hex; components: OrderComponents };
  now: Date;
};

/** The cross-listing to append, or why it is rejected. While the partner's terms are unavailable fees are not validated. */
export async function checkCrossListing(
  market: Market,
  partner: Partner,
  crossListing: ParsedCrossListing,
): Promise<SubmittedCrossListing | RequirementsUnmet> {
  const { chainId, partnerOrderHash, body, listing, now } = crossListing;
  const draft = { ...crossListing, marketplace: partner.name };
  const shapeProblems = validateCrossListing(draft, null);
  const [item] = listing.components.offer;
  if (shapeProblems.length > 0 || item === undefined)
    return requirementsUnmet(partner, shapeProblems);
  const signature = await validateSigner(market, crossListing);
  if (signature !== null) return requirementsUnmet(partner, [signature]);
  const terms = await fetchPartnerTerms(partner, chainId, item.token);
  if (isRejection(terms) && terms.rejected === "partner_requirements_unmet") {
    return requirementsUnmet(partner, [terms.message]);
  }
  const problems = validateCrossListing(draft, isRejection(terms) ? null : terms);
  if (problems.length > 0) return requirementsUnmet(partner, problems);
  return {
    marketplace: partner.name,
    contract: item.token,
    orderHash: listing.orderHash,
    components: body.components,
    signature: body.signature,
    receivedAt: now,
    chainId,
    partnerOrderHash,
  };
}

const requirementsUnmet = ({ name }: Partner, problems: readonly string[]): RequirementsUnmet =>
  reject("partner_requirements_unmet", `${name} would reject it: ${problems.join("; ")}`);

/** What is wrong with the signature. A contract signature of unknown validity is left to the partner. */
async function validateSigner(
  market: Market,
  { chainId, partnerOrderHash, body }: ParsedCrossListing,
): Promise<string | null> {
  const { components, signature } = body;
  const order = { components, signature, orderHash: partnerOrderHash };
  const signatureCheck = await verifySignature(order, chainId, recoverSigner);
  if (signatureCheck.signedBy === "maker") return null;
  const maker = components.offerer;
  const code = { kind: "code", address: maker } as const;
  const signed = { orderHash: partnerOrderHash, maker, order: { components, signature } };
  const validity = { kind: "signature_read", ...signed } as const;
  const results = await queryChainOrReject(market, chainId, [code, validity]);
  if (isRejection(results)) return null;
  if (results.find(code)?.hasCode === false) return signatureCheck.rejection.message;
  return results.find(validity)?.valid === false
    ? `signature: the contract ${maker} does not accept it (EIP-1271)`
    : null;
}

type CrossListingToValidate = {
  marketplace: PartnerName;
  chainId: ChainId;
  partnerOrderHash: Hex;
  body: OrderBody;
  /** The native listing. */
  listing: { orderHash: Hex; components: OrderComponents };
  now: Date;
};

const expectations: Record<RejectReason, string> = {
  wrong_order_hash: "the order hash does not match",
  other_exchange: `the order must be for the exchange ${seaportAddresses["1.6"]}`,
  ended: "endTime must be in the future",
  contract_order: "orderType must be 2 or 3",
  bundle: "offer must contain one item",
  not_a_token: "offer must contain an ERC-721 or ERC-1155 token",
  bad_quantity: "offer must contain a fixed number of units, 1 for ERC-721",
  private: "consideration must contain only payments",
  dynamic_price: "the price must be fixed",
  other_currency: "consideration must all be in the native currency or all in the wrapped one",
  price_too_high: "no payment may be above 2^128 wei",
  too_many_payments: "there must be no more than 24 payments",
  not_divisible: "every payment must be divisible by the number of units",
  zero_price: "the price must not be zero",
};

/** All reasons why an order cannot be the cross-listing of a listing, as messages that say what is expected. */
function validateCrossListing(
  crossListing: CrossListingToValidate,
  terms: PartnerTerms | null,
): string[] {
  const { marketplace, chainId, partnerOrderHash, body, now } = crossListing;
  const { components } = body;
  const order = { marketplace, chainId, orderHash: partnerOrderHash, components, signature: null };
  const parsed = parsePartnerListing(
    { ...order, exchange: seaportAddresses["1.6"] },
    { creators: [], now },
  );
  if (typeof parsed === "string") return [expectations[parsed]];
  return [
    ...validateSameToken(crossListing),
    ...validateForm(body),
    ...validateTimes(components, now),
    ...validatePayments(parsed, terms),
  ];
}

const expect = (field: string, expected: unknown, actual: unknown): string[] =>
  expected === actual ? [] : [`${field} must be ${expected}, and is ${actual}`];

/** Price, times and salt may differ. */
function validateSameToken({
  body: { components },
  listing,
  partnerOrderHash,
}: CrossListingToValidate): string[] {
  const [own] = listing.components.offer;
  const [item] = components.offer;
  return [
    ...(partnerOrderHash === listing.orderHash
      ? ["the cross-listing must be a different order"]
      : []),
    ...expect("offerer", listing.components.offerer, components.offerer),
    ...expect("counter", listing.components.counter, components.counter),
    ...expect("offer.0.itemType", own?.itemType, item?.itemType),
    ...expect("offer.0.token", own?.token, item?.token),
    ...expect(
      "offer.0.identifierOrCriteria",
      own?.identifierOrCriteria,
      item?.identifierOrCriteria,
    ),
    ...expect("offer.0.startAmount", own?.startAmount, item?.startAmount),
  ];
}

function validateForm({ components, totalOriginalConsiderationItems }: OrderBody): string[] {
  const { zone, zoneHash, conduitKey, orderType, consideration } = components;
  return [
    ...expect("zone", partnerOrderForm.zone, zone),
    ...expect("zoneHash", partnerOrderForm.zoneHash, zoneHash),
    ...expect("conduitKey", partnerOrderForm.conduitKey, conduitKey),
    ...(orderType === 2 || orderType === 3
      ? []
      : [`orderType must be 2 or 3, and is ${orderType}`]),
    ...(totalOriginalConsiderationItems === null
      ? []
      : expect(
          "totalOriginalConsiderationItems",
          BigInt(consideration.length),
          totalOriginalConsiderationItems,
        )),
  ];
}

/** An order that has ended is rejected by `parseListing`. */
function validateTimes({ startTime, endTime }: OrderComponents, now: Date): string[] {
  const maximum = BigInt(partnerOrderForm.maximumSeconds);
  const start = startTime > unixSeconds(now) ? startTime : unixSeconds(now);
  if (startTime >= endTime) return ["endTime must be after startTime"];
  return endTime - start > maximum || endTime - startTime > maximum
    ? [`the order must end within ${maximum} seconds of its start`]
    : [];
}

/** The seller's payment first, then only the recipients that the collection names, each with its share. */
function validatePayments(
  { components, quantity }: PartnerListing,
  terms: PartnerTerms | null,
): string[] {
  const { consideration, offerer } = components;
  const [first, ...feeLegs] = consideration;
  const seller = expect("consideration.0.recipient", offerer, first?.recipient);
  if (terms === null) return seller;
  const totalWei = consideration.reduce((sum, { startAmount }) => sum + startAmount, 0n);
  const allowed = new Set(terms.fees.map(({ recipient }) => recipient));
  const others = feeLegs.filter(({ recipient }) => !allowed.has(recipient));
  return [
    ...seller,
    ...terms.fees.flatMap((fee) => validateFee(fee, feeLegs, { totalWei, quantity })),
    ...others.map(({ recipient }) => `consideration must not pay ${recipient}`),
  ];
}

/** A share may differ by one wei per unit, in either direction. */
function validateFee(
  { recipient, bps, isRequired, isService }: PartnerFee,
  feeLegs: OrderComponents["consideration"],
  { totalWei, quantity }: { totalWei: bigint; quantity: bigint },
): string[] {
  const legs = feeLegs.filter((leg) => leg.recipient === recipient);
  if (legs.length === 0 && (!isRequired || bps === 0)) return [];
  const paidWei = legs.reduce((sum, { startAmount }) => sum + startAmount, 0n);
  const expectedWei = (totalWei * BigInt(bps)) / 10_000n;
  const difference = paidWei > expectedWei ? paidWei - expectedWei : expectedWei - paidWei;
  if (difference <= quantity) return [];
  const payee = isService ? "the service" : "the creator";
  return [
    `consideration must pay ${payee} ${recipient} ${expectedWei} (${bps} basis points), and pays ${paidWei}`,
  ];
}
