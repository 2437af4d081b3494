import { z } from "zod";
import { isRejection } from "../../../../projections/domain/rejection.ts";
import { traitsOf } from "../../v1/collections/traits.ts";
import { presentTraits } from "../../views/trait.ts";
import { route } from "../context.ts";
import { collectionAddress, readRefusals } from "../parameters.ts";
import { NftAttributes } from "../views/objects.ts";
import { snake } from "../views/snake.ts";
import { findByAddress } from "./find.ts";

export const attributes = route(
  {
    method: "get",
    path: "/api/collections/{address}/attributes",
    tag: "Collections",
    summary: "Attributes of a collection's tokens: how many have each value, and what those cost",
    params: z.object({ address: collectionAddress }),
    data: NftAttributes,
    refuses: { not_found: 404, ...readRefusals },
  },
  async ({ params }, context) => {
    const { db, chainId, siteUrl, prefix, now } = context;
    const found = await findByAddress(context, params.address);
    if (isRejection(found)) return found;
    const { contractIds } = found;
    const asked = { chainId, contractIds, prefix, now: now() };
    const types = await traitsOf(db).fetch(contractIds.join(), { context: asked });
    if (types === undefined) throw new Error("the attributes were not read");
    return { data: snake(presentTraits(found, { siteUrl, chainId }, types)) };
  },
);
