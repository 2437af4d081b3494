import { type ChainId, seaport } from "../../../../abis/deployments.ts";
import { isRejection, reject } from "../../../../projections/domain/rejection.ts";
import type { Answer } from "../attempt.ts";
import { parseAnswer } from "../parse-answer.ts";
import type { AskedFulfillment, Partner, PartnerFailure } from "../partner.ts";
import type { Transport } from "../transport.ts";
import { chainNames } from "./chain-names.ts";
import { readFulfillment } from "./read-fulfillment.ts";
import { ErrorsAnswer, FulfillmentAnswer } from "./shapes.ts";

const refusals = [400, 404, 409, 410, 422];

/** What lets one buyer fill one listing, for as long as the zone's word lasts. */
export async function fetchFulfillment(
  transport: Transport,
  chainId: ChainId,
  asked: AskedFulfillment,
): ReturnType<NonNullable<Partner["fetchFulfillment"]>> {
  const { orderHash, buyer, units } = asked;
  const answer = await transport.ask({
    method: "POST",
    path: "/api/v2/listings/fulfillment_data",
    body: {
      listing: {
        hash: orderHash,
        chain: chainNames[chainId],
        protocol_address: seaport["1.6"],
      },
      fulfiller: { address: buyer },
      ...(units === null ? {} : { units_to_fill: Number(units) }),
    },
    budget: "act",
  });
  const parsed = parseAnswer(answer, FulfillmentAnswer, refusals);
  if (parsed === null) return reject("unavailable", refusalOf(answer));
  if (isRejection(parsed)) return parsed;
  return readFulfillment(parsed.fulfillment_data.transaction, chainId, asked);
}

const longestText = 300;

/** The partner's own words for why it refuses. */
export function refusalOf(answer: Answer | PartnerFailure): string {
  const body = "body" in answer ? answer.body : null;
  const { data } = ErrorsAnswer.safeParse(body);
  const text = data?.errors.join("; ").slice(0, longestText);
  return text ? `OpenSea refuses: ${text}` : "OpenSea refuses";
}
