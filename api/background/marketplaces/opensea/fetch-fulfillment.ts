import { seaport } from "#abis/deployments.ts";
import type { ChainId } from "#chains/index.ts";
import { chainNameAt } from "#chains/partners.ts";
import { isRejection, reject } from "#projections/domain/rejection.ts";
import { parseResponse } from "../parse-response.ts";
import type { FulfillmentRequest, Partner, PartnerFailure } from "../partner.ts";
import type { PartnerResponse } from "../send-request.ts";
import type { Transport } from "../transport.ts";
import { parseFulfillment } from "./parse-fulfillment.ts";
import { ErrorsResponse, FulfillmentResponse } from "./response-schemas.ts";

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
        protocol_address: seaport["1.6"],
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
