import { zeroHash } from "viem";
import { z } from "zod";
import { commonConduit, seaportAddresses } from "#abis/deployments.ts";
import { type BidRequirement, readBidRequirements } from "#api/orders/bid-requirements.ts";
import type { CriteriaRequest } from "#api/orders/criteria.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import { route } from "../context.ts";
import { requiredBodyChainId, tokenId, wallet } from "../parameters.ts";
import { chainIdValue, currency, hash, presentCurrency, uint256Text } from "../wire.ts";
import {
  CriteriaCoverage,
  criteriaBodyLimits,
  criteriaRequest,
  presentCoverage,
} from "./criteria.ts";
import {
  itemsBodyLimits,
  marketFields,
  presentRequirement,
  requirementFields,
  requirementRefusals,
  units,
  wei,
} from "./order-terms.ts";

const kind = z.enum(["item", "collection", "trait", "token-list"]);

const item = z
  .strictObject({
    kind,
    contract: wallet,
    tokenId: tokenId.nullish(),
    criteria: criteriaRequest.nullish(),
    amountWei: wei,
    quantity: units,
  })
  .refine(({ kind, tokenId }) => (kind === "item") === (typeof tokenId === "bigint"), {
    message: "is required for an item, and must be left out for several tokens",
    path: ["tokenId"],
  })
  .refine(({ kind, criteria }) => kind === kindOf(criteria ?? null, kind), {
    message:
      "must name traits of kind `trait`, tokens alone of `token-list`, and be left out of others",
    path: ["criteria"],
  });

/** The kind of an item: of several tokens by what they are named with. */
function kindOf(request: CriteriaRequest | null, otherwise: z.output<typeof kind>) {
  if (request !== null) return request.traits === undefined ? "token-list" : "trait";
  return otherwise === "item" ? "item" : "collection";
}

const row = z
  .object({
    kind,
    ...requirementFields,
    tokenId: uint256Text.nullable(),
    criteria: CriteriaCoverage.nullable().meta({
      description:
        "The tokens of a bid on several, to be sent with the order; null: it is for one, for every one, or blocked.",
    }),
    amountWei: uint256Text,
    totalWei: uint256Text.meta({ description: "Amount times quantity." }),
  })
  .meta({ id: "OfferRequirement" });

const OfferRequirements = z
  .object({
    chainId: chainIdValue,
    ...marketFields,
    conduitKey: hash.meta({ description: "Zero: the exchange itself transfers the currency." }),
    sellerConduitKey: hash,
    currency,
    balanceWei: uint256Text,
    allowanceWei: uint256Text.meta({ description: "The maker's allowance to the exchange." }),
    openOffersWei: uint256Text.meta({ description: "Total of the maker's open offers." }),
    requiredAllowanceWei: uint256Text.meta({
      description:
        "For open offers and every item that is not blocked: approve exactly this amount.",
    }),
    items: z.array(row).meta({ description: "In the order of the request." }),
  })
  .meta({ id: "OfferRequirements" });

export const bidRequirements = route(
  {
    method: "post",
    path: "/v1/bids/requirements",
    operationId: "getBidRequirements",
    tag: "Bids",
    loadClass: "orders",
    summary: "What to sign and approve for up to 50 bids, checked against the chain",
    body: z.strictObject({
      chainId: requiredBodyChainId,
      maker: wallet,
      items: z.array(item).min(1).max(50),
    }),
    data: OfferRequirements,
    refuses: requirementRefusals,
    bodyLimits: {
      maxBytes: itemsBodyLimits.maxBytes + criteriaBodyLimits.maxBytes,
      maxValues: itemsBodyLimits.maxValues + criteriaBodyLimits.maxValues,
    },
  },
  async ({ body }, { market, now }) => {
    const { chainId, maker } = body;
    const items = body.items.map(({ amountWei, tokenId, criteria, ...rest }) => ({
      ...rest,
      tokenId: tokenId ?? null,
      request: criteria ?? null,
      unitPriceWei: amountWei,
    }));
    const found = await readBidRequirements({ market, chainId, maker, now: now() }, items);
    if (isRejection(found)) return found;
    const { fee, currency } = market.terms(chainId);
    return {
      data: {
        chainId,
        maker,
        seaport: seaportAddresses["1.6"],
        conduitKey: zeroHash,
        sellerConduitKey: commonConduit.key,
        currency: presentCurrency(chainId, currency),
        feeRecipient: fee.recipient,
        feeBps: fee.bps,
        counter: String(found.counter),
        balanceWei: String(found.balanceWei),
        allowanceWei: String(found.allowanceWei),
        openOffersWei: String(found.openOffersWei),
        requiredAllowanceWei: String(found.requiredAllowanceWei),
        items: found.items.map((requirement) => presentRow(requirement, maker)),
      },
    };
  },
);

function presentRow(
  requirement: BidRequirement,
  maker: z.output<typeof wallet>,
): z.output<typeof row> {
  const { item, standard, coverage } = requirement;
  const { contract, tokenId, quantity, unitPriceWei } = item;
  return {
    kind: kindOf(item.request, tokenId === null ? "collection" : "item"),
    contract,
    tokenId: tokenId === null ? null : String(tokenId),
    criteria: coverage === null ? null : presentCoverage(coverage),
    quantity: Number(quantity),
    amountWei: String(unitPriceWei),
    totalWei: String(unitPriceWei * quantity),
    standard,
    ...presentRequirement(requirement, { ...item, side: "bid", maker }),
  };
}
