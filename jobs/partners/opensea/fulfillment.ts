import { type Address, type Hex, hexToBigInt, size, slice } from "viem";
import type { z } from "zod";
import { seaportAddresses } from "#abis/deployments.ts";
import type { ChainId } from "#chains/index.ts";
import { chainNameAt } from "#chains/partners.ts";
import { isRejection, type Rejection, reject } from "#projections/domain/rejection.ts";
import { itemType, type OrderComponents } from "#projections/domain/seaport/order-components.ts";
import { orderHash } from "#projections/domain/seaport/order-hash.ts";
import type { Fulfillment, FulfillmentRequest, Partner, PartnerFailure } from "../partner.ts";
import { type PartnerResponse, parseResponse } from "../send-request.ts";
import type { Transport } from "../transport.ts";
import {
  type BasicParameters,
  ErrorsResponse,
  FulfillmentResponse,
  type ProposedAdvancedOrder,
} from "./response-schemas.ts";

const refusals = [400, 404, 409, 410, 422];

/** Data for one buyer to fill one listing, valid while the zone's authorization lasts. */
export async function fetchFulfillment(
  transport: Transport,
  chainId: ChainId,
  request: FulfillmentRequest,
): ReturnType<NonNullable<Partner["fetchFulfillment"]>> {
  const { orderHash, buyer, units } = request;
  const response = await transport.send({
    method: "POST",
    path: "/api/v2/listings/fulfillment_data",
    body: {
      listing: {
        hash: orderHash,
        chain: chainNameAt("opensea", chainId),
        protocol_address: seaportAddresses["1.6"],
      },
      fulfiller: { address: buyer },
      ...(units === null ? {} : { units_to_fill: Number(units) }),
    },
    budget: "act",
    caller: request.caller,
  });
  const parsed = parseResponse(response, FulfillmentResponse, refusals);
  if (parsed === null) return reject("unavailable", refusalOf(response));
  if (isRejection(parsed)) return parsed;
  return parseFulfillment(parsed.fulfillment_data.transaction, chainId, request);
}

const maxErrorLength = 300;

/** The partner's error message. */
export function refusalOf(response: PartnerResponse | PartnerFailure): string {
  const body = "body" in response ? response.body : null;
  const { data } = ErrorsResponse.safeParse(body);
  const text = data?.errors.join("; ").slice(0, maxErrorLength);
  return text ? `OpenSea refuses: ${text}` : "OpenSea refuses";
}

type Transaction = z.output<typeof FulfillmentResponse>["fulfillment_data"]["transaction"];
type Parameters = Omit<OrderComponents, "counter">;
type ProposedOrder = Omit<Fulfillment, "to" | "value" | "components" | "validUntil"> & {
  parameters: Parameters;
};

/**
 * Fulfillment data from the call that the partner proposes. Only verified parts are used: the order by its hash, the
 * zone's authorization by its fulfiller.
 */
export function parseFulfillment(
  transaction: Transaction,
  chainId: ChainId,
  { orderHash: expectedHash, counter, buyer }: FulfillmentRequest,
): Fulfillment | Rejection<"unsupported_order" | "order_mismatch"> {
  if (transaction.chain !== chainId || transaction.to !== seaportAddresses["1.6"]) {
    return reject("order_mismatch", "The fulfillment is for another exchange");
  }
  const order = toProposedOrder(transaction.input_data);
  if (order === null) {
    return reject(
      "unsupported_order",
      `Unsupported fulfillment method ${nameOf(transaction.function)}`,
    );
  }
  const { parameters, ...rest } = order;
  const components = { ...parameters, counter };
  if (orderHash(components) !== expectedHash) {
    return reject("order_mismatch", `The fulfillment is not of ${expectedHash}`);
  }
  const authorization = parseZoneAuthorization(rest.extraData);
  if (authorization !== null && !authorization.isFor(buyer)) {
    return reject("order_mismatch", "The zone's authorization is for another buyer");
  }
  const validUntil = authorization?.validUntil ?? null;
  return { to: transaction.to, value: transaction.value, components, validUntil, ...rest };
}

function toProposedOrder(input: Transaction["input_data"]): ProposedOrder | null {
  switch (input.kind) {
    case "advanced":
      return fromOrder(input.advancedOrder, input.fulfillerConduitKey);
    case "plain":
      return fromOrder({ ...input.order, ...whole }, input.fulfillerConduitKey);
    case "basic":
      return fromBasic(input.parameters);
    case "other":
      return null;
  }
}

const whole = { numerator: 1n, denominator: 1n, extraData: "0x" } as const;

/** Consideration items beyond the signed ones are tips added by the partner; only the signed ones are hashed. */
function fromOrder(
  { parameters, signature, extraData, numerator, denominator }: ProposedAdvancedOrder,
  fulfillerConduitKey: Hex,
): ProposedOrder {
  const { totalOriginalConsiderationItems, ...signed } = parameters;
  return {
    parameters: {
      ...signed,
      consideration: signed.consideration.slice(0, Number(totalOriginalConsiderationItems)),
    },
    signature,
    extraData,
    numerator,
    denominator,
    fulfillerConduitKey,
  };
}

/** Seaport's `BasicOrderType`: four order types for each of six routes, of which the first four are listings. */
const orderTypes = 4;
const listingRoutes = 4;

function fromBasic(basic: BasicParameters): ProposedOrder | null {
  const route = Math.floor(basic.basicOrderType / orderTypes);
  if (route >= listingRoutes) return null;
  const original = Number(basic.totalOriginalAdditionalRecipients);
  const paid = (recipient: Address, amount: bigint) => ({
    itemType: route < 2 ? itemType.native : itemType.erc20,
    token: basic.considerationToken,
    identifierOrCriteria: basic.considerationIdentifier,
    startAmount: amount,
    endAmount: amount,
    recipient,
  });
  return {
    parameters: {
      offerer: basic.offerer,
      zone: basic.zone,
      offer: [
        {
          itemType: route % 2 === 0 ? itemType.erc721 : itemType.erc1155,
          token: basic.offerToken,
          identifierOrCriteria: basic.offerIdentifier,
          startAmount: basic.offerAmount,
          endAmount: basic.offerAmount,
        },
      ],
      consideration: [
        paid(basic.offerer, basic.considerationAmount),
        ...basic.additionalRecipients
          .slice(0, original)
          .map(({ recipient, amount }) => paid(recipient, amount)),
      ],
      orderType: basic.basicOrderType % orderTypes,
      startTime: basic.startTime,
      endTime: basic.endTime,
      zoneHash: basic.zoneHash,
      salt: basic.salt,
      conduitKey: basic.offererConduitKey,
    },
    signature: basic.signature,
    ...whole,
    fulfillerConduitKey: basic.fulfillerConduitKey,
  };
}

/** SIP-7: version 0, whom the authorization is for (zero: anybody), until when, the zone's signature, context. */
function parseZoneAuthorization(extraData: Hex) {
  if (size(extraData) < 93 || slice(extraData, 0, 1) !== "0x00") return null;
  const fulfiller = hexToBigInt(slice(extraData, 1, 21));
  const seconds = hexToBigInt(slice(extraData, 21, 29));
  return {
    isFor: (buyer: Address) => fulfiller === 0n || fulfiller === hexToBigInt(buyer),
    validUntil: seconds > 8_640_000_000_000n ? null : new Date(Number(seconds) * 1_000),
  };
}

const nameOf = (signature: string) => signature.split("(")[0]?.slice(0, 60);
