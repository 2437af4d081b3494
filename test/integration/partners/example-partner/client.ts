import type { Hex } from "viem";
import { z } from "zod";
import { seaportAddresses } from "#abis/deployments.ts";
import { chainIds } from "#chains/index.ts";
import { parsePartnerListing } from "#jobs/partners/parse-listing.ts";
import type { Partner } from "#jobs/partners/partner.ts";
import type { PartnerDefinition } from "#jobs/partners/partner-definition.ts";
import { orderComponents, parseEntries, parseResponse } from "#jobs/partners/send-request.ts";
import { openTransport } from "#jobs/partners/transport.ts";
import type { PartnerName } from "#projections/domain/partners.ts";
import { isRejection, reject } from "#projections/domain/rejection.ts";

export const examplePartner = "example" as PartnerName;

const Entry = z.object({ hash: z.string(), order: orderComponents, signature: z.string() });
const ListingsResponse = z.object({ listings: z.array(z.unknown()) });

/** Client of a made-up partner with a single endpoint. */
export const openExamplePartner: PartnerDefinition["open"] = ({ key: _, ...config }, timeouts) => {
  const transport = openTransport({ ...config, name: "Example", headers: {}, timeouts });
  const fetchListings: Partner["fetchListings"] = async (chainId, { creators, contract }) => {
    const response = await transport.send({
      method: "GET",
      path: `/${chainId}/listings`,
      query: { contract },
      budget: "read",
    });
    const parsed = parseResponse(response, ListingsResponse);
    if (parsed === null) return reject("not_found", "unknown contract");
    if (isRejection(parsed)) return parsed;
    const now = new Date();
    return {
      cursor: null,
      ...parseEntries(parsed.listings, (value) => {
        const { hash, order: components, signature } = Entry.parse(value);
        const listing = parsePartnerListing(
          {
            ...{
              marketplace: examplePartner,
              chainId,
              exchange: seaportAddresses["1.6"],
              components,
            },
            orderHash: hash as Hex,
            signature: signature as Hex,
          },
          { creators, now },
        );
        if (typeof listing !== "string") return listing;
        return { reason: listing, path: "order", concerns: hash as Hex };
      }),
    };
  };
  return {
    name: examplePartner,
    chainIds,
    fetchListings,
    fetchListing: () => Promise.resolve(null),
    close: transport.close,
  };
};
