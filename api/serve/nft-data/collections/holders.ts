import type { Hex } from "viem";
import { z } from "zod";
import { isRejection } from "../../../../projections/domain/rejection.ts";
import {
  type HolderCursor,
  readHolders,
} from "../../../../projections/reads/ownership/read-holders.ts";
import { cursorInteger } from "../../http/page.ts";
import { address, uint256Text } from "../../views/wire.ts";
import { route } from "../context.ts";
import { cutList, listFields, listMeta, listPageOf, listRefusals } from "../list-page.ts";
import { collectionAddress } from "../parameters.ts";
import { findByAddress } from "./find.ts";

const Holder = z
  .object({
    address,
    tokens: z.int().min(1).meta({ description: "Token ids of which it holds something." }),
    units: uint256Text.meta({ description: "Units of these; of ERC-721 tokens, one each." }),
  })
  .meta({ id: "Holder" });

export const holders = route(
  {
    method: "get",
    path: "/api/collections/{address}/holders",
    tag: "Collections",
    summary: "Who holds tokens of a collection, most token ids first; burn addresses left out",
    params: z.object({ address: collectionAddress }),
    query: z.object(listFields),
    data: z.array(Holder),
    meta: listMeta,
    refuses: { not_found: 404, ...listRefusals },
  },
  async ({ params, query }, context) => {
    const collection = await findByAddress(context, params.address);
    if (isRejection(collection)) return collection;
    const { contractIds } = collection;
    const scope = { list: "holders", chainId: context.chainId, contractIds: contractIds.join() };
    const request = listPageOf(query, scope, holderKey);
    if (isRejection(request)) return request;
    const rows = await readHolders(context.db, contractIds, request.read);
    const { shown, meta } = cutList(request, rows, ({ tokens, owner }) => [tokens, BigInt(owner)]);
    return {
      data: shown.map(({ owner, tokens, units }) => ({
        address: owner,
        tokens: Number(tokens),
        units: String(units),
      })),
      meta,
    };
  },
);

/** An address is a number of 20 bytes. */
const holderKey = z.tuple([cursorInteger(18), cursorInteger(49)]).transform(
  ([tokens, owner]): HolderCursor => ({
    tokens,
    owner: `0x${owner.toString(16).padStart(40, "0")}` as Hex,
  }),
);
