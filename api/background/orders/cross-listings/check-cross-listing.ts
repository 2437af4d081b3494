import type { Hex } from "viem";
import type { ChainId } from "#chains/index.ts";
import type { OrderBody } from "#projections/domain/orders/order-terms.ts";
import { isRejection, type Rejection, reject } from "#projections/domain/rejection.ts";
import type { OrderComponents } from "#projections/domain/seaport/order-components.ts";
import { verifySignature } from "#projections/domain/seaport/signature.ts";
import type { SubmittedCrossListing } from "#projections/partners/cross-listings.ts";
import type { Partner } from "#jobs/partners/partner.ts";
import type { Market } from "../market/market.ts";
import { queryChainOrReject } from "#jobs/orders/evaluate-order.ts";
import { recoverSigner } from "../market/recover-signer.ts";
import { fetchPartnerTerms } from "./partner-terms.ts";
import { validateCrossListing } from "./validate-cross-listing.ts";

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
