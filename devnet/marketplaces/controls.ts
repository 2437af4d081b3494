import { type Address, type Hex, isAddress, isAddressEqual, isHex, type LocalAccount } from "viem";
import { z } from "zod";
import { chainIds } from "#chains/index.ts";
import { accounts } from "../accounts.ts";
import { Faults, withoutFaults } from "./faults.ts";
import type { StoredListing } from "./listing-store.ts";
import { presentWhole } from "./seaport-shapes.ts";
import type { StandIn } from "./stand-in.ts";
import type { Answer, StandInRequest } from "./stand-in-server.ts";

const chainId = z.union(chainIds.map((id) => z.literal(id)));
const address = z.custom<Address>((text) => isAddress(`${text}`, { strict: false }));
const hash = z.custom<Hex>((text) => isHex(text) && text.length === 66);
const wei = z.string().regex(/^\d+$/).transform(BigInt);

const Sale = z.object({
  chainId,
  maker: address,
  contract: address,
  tokenId: wei,
  standard: z.enum(["erc721", "erc1155"]).default("erc721"),
  priceWei: wei,
  quantity: wei.default(1n),
  currency: z.enum(["native", "wrapped"]).default("native"),
});
const Bulk = z.object({
  chainId,
  contract: address,
  count: z.int().min(1).max(200_000),
  firstTokenId: wei.default(1n),
});
const Named = z.object({ chainId, orderHash: hash });

type Control = (standIn: StandIn, body: unknown) => Promise<unknown> | unknown;

/** What tests in another process do with a stand-in, by method and path. */
const controls: Record<string, Control> = {
  "GET /_control": ({ partner, url, faults, requests, book }) => ({
    partner,
    url,
    faults: faults(),
    requests: requests().length,
    listings: countByStatus(book.all()),
  }),
  "PATCH /_control/faults": (standIn, body) => {
    standIn.fail(Faults.partial().parse(body) as Partial<Faults>);
    return standIn.faults();
  },
  "DELETE /_control/faults": (standIn) => {
    standIn.heal();
    return withoutFaults;
  },
  "GET /_control/requests": ({ requests }) => ({ requests: requests() }),
  "DELETE /_control/requests": ({ forgetRequests }) => forgetRequests() ?? {},
  "GET /_control/listings": ({ book }) => ({
    listings: [...book.all()].slice(-1_000).map(presentShown),
  }),
  "POST /_control/listings": async (standIn, body) => {
    const { contract, tokenId, standard, maker, ...sale } = Sale.parse(body);
    const nft = { contract, tokenId, standard };
    return presentShown(await standIn.sell({ ...sale, nft, maker: localAccount(maker) }));
  },
  "POST /_control/listings/bulk": async (standIn, body) => {
    const bulk = Bulk.parse(body);
    await standIn.showMany(bulk);
    return { added: bulk.count };
  },
  "POST /_control/listings/withdraw": ({ withdraw }, body) => {
    const { chainId, orderHash } = Named.parse(body);
    return { withdrawn: withdraw(chainId, orderHash) };
  },
  "POST /_control/listings/restore": ({ restore }, body) => {
    const { chainId, orderHash } = Named.parse(body);
    return { restored: restore(chainId, orderHash) };
  },
  "POST /_control/look": async ({ look }) => (await look()) ?? {},
};

/** Undefined: there is no such control. */
export async function control(
  request: StandInRequest,
  standIn: StandIn,
): Promise<Answer | undefined> {
  const action = controls[`${request.method} ${request.path}`];
  if (action === undefined) return undefined;
  try {
    return { status: 200, body: await action(standIn, request.body) };
  } catch (error) {
    return { status: 400, body: { errors: [error instanceof Error ? error.message : `${error}`] } };
  }
}

function localAccount(address: Address): LocalAccount {
  const people = Object.values(accounts).filter((account) => typeof account !== "string");
  const found = people.find((account) => isAddressEqual(account.address, address));
  if (found === undefined) throw new Error(`${address} is nobody of the local chains`);
  return found;
}

function countByStatus(listings: Iterable<StoredListing>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status } of listings) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

const presentShown = ({ chainId, orderHash, status, remaining, order }: StoredListing) => ({
  chainId,
  orderHash,
  status,
  remaining: `${remaining}`,
  components: presentWhole(order.components),
});
