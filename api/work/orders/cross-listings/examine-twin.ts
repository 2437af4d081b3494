import type { Hex } from "viem";
import type { ChainId } from "../../../../abis/deployments.ts";
import type { OrderBody } from "../../../../projections/domain/orders/order-body.ts";
import { isRejection, type Rejection, reject } from "../../../../projections/domain/rejection.ts";
import type { OrderComponents } from "../../../../projections/domain/seaport/order-components.ts";
import { judgeSignature } from "../../../../projections/domain/seaport/signature.ts";
import type { SubmittedTwin } from "../../../../projections/facts/twin-facts.ts";
import type { Partner } from "../../marketplaces/partner.ts";
import { askOrRefuse } from "../checks/ask-or-refuse.ts";
import { recoverSigner } from "../intake/recover-signer.ts";
import type { Market } from "../market.ts";
import { judgeTwin } from "./judge-twin.ts";
import { fetchTwinTerms } from "./twin-terms.ts";

export type Unmet = Rejection<"partner_requirements_unmet">;

export type ParsedTwin = {
  chainId: ChainId;
  twinHash: Hex;
  body: OrderBody;
  /** The listing in the market's own book. */
  listing: { orderHash: Hex; components: OrderComponents };
  now: Date;
};

/** A twin as it is submitted, or what it lacks. While the partner does not tell its fees it is left to judge them. */
export async function examineTwin(
  market: Market,
  partner: Partner,
  twin: ParsedTwin,
): Promise<SubmittedTwin | Unmet> {
  const { chainId, twinHash, body, listing, now } = twin;
  const judged = { ...twin, marketplace: partner.name };
  const plainly = judgeTwin(judged, null);
  const [item] = listing.components.offer;
  if (plainly.length > 0 || item === undefined) return unmet(partner, plainly);
  const signature = await judgeSigner(market, twin);
  if (signature !== null) return unmet(partner, [signature]);
  const terms = await fetchTwinTerms(partner, chainId, item.token);
  if (isRejection(terms) && terms.rejected === "partner_requirements_unmet") {
    return unmet(partner, [terms.message]);
  }
  const lacking = judgeTwin(judged, isRejection(terms) ? null : terms);
  if (lacking.length > 0) return unmet(partner, lacking);
  return {
    marketplace: partner.name,
    contract: item.token,
    orderHash: listing.orderHash,
    components: body.components,
    signature: body.signature,
    receivedAt: now,
    ...{ chainId, twinHash },
  };
}

const unmet = ({ name }: Partner, lacking: readonly string[]): Unmet =>
  reject("partner_requirements_unmet", `${name} would not take it: ${lacking.join("; ")}`);

/** What is wrong with the signature. A contract's that the chain tells nothing of is left to the partner. */
async function judgeSigner(
  market: Market,
  { chainId, twinHash, body }: ParsedTwin,
): Promise<string | null> {
  const { components, signature } = body;
  const order = { components, signature, orderHash: twinHash };
  const verdict = await judgeSignature(order, chainId, recoverSigner);
  if (verdict.signedBy === "maker") return null;
  const maker = components.offerer;
  const code = { kind: "code", address: maker } as const;
  const read = { kind: "signature_read", orderHash: twinHash, maker } as const;
  const asked = { ...read, order: { components, signature } };
  const answers = await askOrRefuse(market, chainId, [code, asked]);
  if (isRejection(answers)) return null;
  if (answers.find(code)?.hasCode === false) return verdict.otherwise.message;
  return answers.find(asked)?.valid === false
    ? `signature: the contract ${maker} does not take it for its own (EIP-1271)`
    : null;
}
