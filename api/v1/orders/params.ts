import { zeroAddress, zeroHash } from "viem";
import { z } from "zod";
import { commonConduit, seaportAddresses } from "#abis/deployments.ts";
import { commaList, documentAs } from "#api/http/query.ts";
import type { CriteriaRequest } from "#api/orders/criteria.ts";
import {
  type DescribedParameters,
  type OrderParametersRequest,
  readOrderParameters,
} from "#api/orders/order-parameters.ts";
import {
  publishedBounds,
  saltPrefix,
  signingParams,
} from "#projections/domain/orders/order-params.ts";
import { type MarketTerms, orderBounds } from "#projections/domain/orders/order-terms.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import { maxCriteriaTokens } from "#projections/domain/seaport/criteria.ts";
import { type Context, route } from "../context.ts";
import { chainId, tokenId, traitFilter, wallet } from "../parameters.ts";
import { address, chainIdValue, currency, hash, presentCurrency, uint256Text } from "../wire.ts";
import { CriteriaCoverage, presentCoverage } from "./criteria.ts";
import {
  blockedFields,
  presentBlocked,
  presentPriced,
  pricedFields,
  requirementRefusals,
  wei,
} from "./order-terms.ts";

const { maxQuantity } = orderBounds;
const units = z
  .string()
  .regex(/^[1-9]\d{0,15}$/, "must be a whole number from 1")
  .transform(BigInt)
  .refine((units) => units <= maxQuantity, `must be at most ${maxQuantity}`)
  .default(1n)
  .meta({
    description: "Units of a listing. An offer is priced for one unit.",
    override: documentAs({ type: "integer", minimum: 1, default: 1, pattern: undefined }),
  });

const maxListed = 200;

/** As many as a query string holds. */
const criteriaTokenIds = commaList(maxListed * 79)
  .pipe(z.array(tokenId).min(1).max(maxListed))
  .meta({
    description: `Of kind \`token-list\`, or of those with \`traits\`: each once, comma-separated, at most ${maxListed}; \`POST /v1/bids/requirements\` takes up to ${maxCriteriaTokens}.`,
    override: { type: "string", pattern: "^\\d+(,\\d+)*$" },
  });

const criteriaKinds = { trait: true, "token-list": true };

const query = z
  .object({
    chainId,
    maker: wallet.optional(),
    kind: z.enum(["item", "collection", "trait", "token-list"]).default("item").meta({
      description:
        "Whether an offer is for one token, for any of the contract, for any with `traits`, or for any of `tokenIds`.",
    }),
    contract: wallet.optional(),
    tokenId: tokenId.optional(),
    traits: traitFilter("traits", {
      more: "Of kind `trait`; bounds of numbers are taken by `POST /v1/bids/requirements`. ",
      hasAlternatives: false,
    }).optional(),
    tokenIds: criteriaTokenIds.optional(),
    quantity: units,
    unitPriceWei: wei.optional(),
  })
  .refine(({ kind, tokenId }) => kind === "item" || tokenId === undefined, {
    message: "must be left out for several tokens",
    path: ["tokenId"],
  })
  .refine(({ kind, traits = [] }) => (kind === "trait") === traits.length > 0, {
    message: "are required of kind `trait`, and must be left out of others",
    path: ["traits"],
  })
  .refine(({ kind, tokenIds }) => tokenIds !== undefined || kind !== "token-list", {
    message: "are required of kind `token-list`",
    path: ["tokenIds"],
  })
  .refine(({ kind, tokenIds }) => tokenIds === undefined || kind in criteriaKinds, {
    message: "must be left out of others than `token-list` and `trait`",
    path: ["tokenIds"],
  });

const onlyWithMaker = "null without `maker`.";

const offers = z
  .object({
    currency,
    conduitKey: hash.meta({ description: "Zero: the exchange itself transfers the currency." }),
    ...pricedFields,
    ...blockedFields,
    criteria: CriteriaCoverage.nullable().meta({
      description:
        "The tokens of an offer on several, to be sent with the order; null: it is for one, for every one, or blocked.",
    }),
    consideration: pricedFields.consideration
      .unwrap()
      .meta({ id: "OfferOrderComponents" })
      .nullable(),
    requiredAllowanceWei: uint256Text.nullable().meta({
      description: "For this offer and the maker's open ones: approve exactly this amount.",
    }),
    openOffersWei: uint256Text.nullable().meta({
      description: `Total of the maker's open offers; ${onlyWithMaker}`,
    }),
    balanceWei: uint256Text.nullable().meta({ description: onlyWithMaker }),
    allowanceWei: uint256Text
      .nullable()
      .meta({ description: `The maker's allowance to the exchange; ${onlyWithMaker}` }),
  })
  .meta({
    id: "OfferParameters",
    description: "The same for an offer of `unitPriceWei` for one unit.",
  });

const seconds = z.int().min(0);

const OrderParametersBlock = z
  .object({
    chainId: chainIdValue,
    maker: address.nullable(),
    seaport: address.meta({ description: "The exchange; the same as in `domain`." }),
    protocol: z.object({ name: z.string(), version: z.string(), address }),
    domain: z
      .object({
        name: z.string(),
        version: z.string(),
        chainId: z.int(),
        verifyingContract: address,
      })
      .meta({ description: "EIP-712 domain." }),
    types: z.record(z.string(), z.array(z.object({ name: z.string(), type: z.string() }))),
    primaryType: z.literal("OrderComponents"),
    zone: address,
    zoneHash: hash,
    conduitKey: hash,
    conduit: address.meta({ description: "The operator to approve on each collection." }),
    saltPrefix: z
      .string()
      .regex(/^0x[0-9a-f]{8}$/)
      .meta({
        description: "First four bytes of the salt, which has 32; the others are random.",
      }),
    feeRecipient: address,
    feeBps: z.int().min(0),
    bounds: z.object({
      minPriceWei: uint256Text.meta({ description: "For one unit." }),
      maxPriceWei: uint256Text,
      maxQuantity: uint256Text.meta({ description: "Units of one order, ERC-1155." }),
      minDurationSeconds: seconds,
      maxDurationSeconds: seconds,
      maxStartDelaySeconds: seconds,
      clockSkewSeconds: seconds,
    }),
    counter: uint256Text
      .nullable()
      .meta({ description: `The maker's, to be signed; ${onlyWithMaker}` }),
    ...pricedFields,
    ...blockedFields,
    offers,
  })
  .meta({ id: "OrderParameterBlock" });

export const orderParams = route(
  {
    method: "get",
    path: "/v1/orders/params",
    operationId: "getOrderParams",
    tag: "Orders",
    loadClass: "orders",
    reads: "primary",
    summary: "Values and EIP-712 types to sign a listing with; those of an offer are in `offers`",
    query,
    data: OrderParametersBlock,
    refuses: requirementRefusals,
  },
  async ({ query }, context) => {
    const { chainId, kind, quantity, traits = [], tokenIds } = query;
    const request = {
      chainId,
      kind: kind === "item" ? kind : ("several" as const),
      criteria: kind in criteriaKinds ? criteriaOf(traits, tokenIds) : null,
      quantity,
      maker: query.maker ?? null,
      contract: query.contract ?? null,
      tokenId: query.tokenId ?? null,
      unitPriceWei: query.unitPriceWei ?? null,
    };
    const found = await readOrderParameters(context.market, request, context.now());
    return isRejection(found) ? found : { data: present(request, found, context.market) };
  },
);

const criteriaOf = (
  traits: readonly (readonly [string, string])[],
  tokenIds?: readonly bigint[],
): CriteriaRequest => ({
  tokenIds,
  ...(traits.length > 0 && { traits: traits.map(([type, value]) => ({ type, value })) }),
});

function present(
  request: OrderParametersRequest,
  found: DescribedParameters,
  market: Context["market"],
): z.output<typeof OrderParametersBlock> {
  const { chainId, maker, quantity } = request;
  const terms = market.terms(chainId);
  const { domain, types, primaryType } = signingParams(chainId);
  const unitPriceWei = request.unitPriceWei ?? 0n;
  return {
    chainId,
    maker,
    seaport: seaportAddresses["1.6"],
    protocol: { name: "seaport", version: "1.6", address: seaportAddresses["1.6"] },
    domain,
    types: Object.fromEntries(Object.entries(types).map(([name, members]) => [name, [...members]])),
    primaryType,
    zone: zeroAddress,
    zoneHash: zeroHash,
    conduitKey: commonConduit.key,
    conduit: commonConduit.address,
    saltPrefix: saltPrefix(market.prefix),
    feeRecipient: terms.fee.recipient,
    feeBps: terms.fee.bps,
    bounds: publishedBounds(terms),
    counter: found.makerFunds && String(found.makerFunds.counter),
    ...presentPriced(found.listing, { side: "ask", maker, quantity, unitPriceWei }),
    ...presentBlocked(found.listing?.blocked ?? null),
    offers: presentOffers(request, found, terms),
  };
}

function presentOffers(
  { chainId, maker, unitPriceWei }: OrderParametersRequest,
  { makerFunds, bid }: DescribedParameters,
  terms: MarketTerms,
): z.output<typeof offers> {
  const offeredWei = unitPriceWei ?? 0n;
  return {
    currency: presentCurrency(chainId, terms.currency),
    conduitKey: zeroHash,
    ...presentPriced(bid, { side: "bid", maker, quantity: 1n, unitPriceWei: offeredWei }),
    ...presentBlocked(bid?.blocked ?? null),
    criteria: bid?.coverage ? presentCoverage(bid.coverage) : null,
    requiredAllowanceWei:
      unitPriceWei === null ? null : String((makerFunds?.openOffersWei ?? 0n) + offeredWei),
    openOffersWei: makerFunds && String(makerFunds.openOffersWei),
    balanceWei: makerFunds && String(makerFunds.balanceWei),
    allowanceWei: makerFunds && String(makerFunds.allowanceWei),
  };
}
