import { type Address, formatEther } from "viem";
import type { Market } from "../src/index.ts";

/** A token that is to be listed. */
export type ListedToken = { readonly contract: Address; readonly tokenId: string };

/** A price for each token, as a decimal number; null: none is known. */
export type PriceRule = { readonly label: string; readonly prices: readonly (string | null)[] };

/** What the market would ask for tokens now: their collection's floor, and the highest floor of one of their traits. */
export async function suggestPrices(
  api: Market,
  tokens: readonly ListedToken[],
): Promise<readonly PriceRule[]> {
  const contracts = [...new Set(tokens.map(({ contract }) => contract))];
  const read = async (contract: Address) =>
    [contract, await readFloors(api, contract, tokens)] as const;
  const floors = new Map(await Promise.all(contracts.map(read)));
  const priced = tokens.map(({ contract, tokenId }) => {
    const known = floors.get(contract);
    const floor = known?.floorWei ?? null;
    return { floor, byTraits: known?.byToken.get(tokenId) ?? floor };
  });
  const textOf = (wei: bigint | null) => (wei === null ? null : formatEther(wei));
  const rules = [
    { label: "Floor", prices: priced.map(({ floor }) => textOf(floor)) },
    { label: "Floor by traits", prices: priced.map(({ byTraits }) => textOf(byTraits)) },
  ];
  return rules.filter(({ prices }) => prices.some((one) => one !== null));
}

type Floors = {
  readonly floorWei: bigint | null;
  readonly byToken: ReadonlyMap<string, bigint>;
};

async function readFloors(
  api: Market,
  collection: Address,
  tokens: readonly ListedToken[],
): Promise<Floors> {
  const ids = tokens.filter(({ contract }) => contract === collection).map((one) => one.tokenId);
  const [{ data: row }, { data: traits }, { data: described }] = await Promise.all([
    api.get("/v1/collections/{collection}", { collection }),
    api.get("/v1/collections/{collection}/traits", { collection }),
    api.get("/v1/collections/{collection}/tokens", {
      ...{ collection, token_ids: ids.join(), per_page: ids.length },
    }),
  ]);
  const ofTrait = new Map(
    traits.traitTypes.flatMap(({ type, values }) =>
      values.map(({ value, floorWei }) => [keyOf(type, value), floorWei] as const),
    ),
  );
  const byToken = new Map<string, bigint>();
  for (const { contract, tokenId, attributes } of described) {
    if (contract.toLowerCase() !== collection.toLowerCase()) continue;
    const found = (attributes ?? []).flatMap(({ trait_type, value }) => {
      const wei = ofTrait.get(keyOf(trait_type, String(value)));
      return wei === undefined || wei === null ? [] : [BigInt(wei)];
    });
    if (found.length > 0) byToken.set(tokenId, largestOf(found));
  }
  const floor = row.stats.floor?.priceWei;
  return { floorWei: floor === undefined ? null : BigInt(floor), byToken };
}

const keyOf = (type: string, value: string) => JSON.stringify([type, value]);

const largestOf = (all: readonly bigint[]) => all.reduce((most, one) => (one > most ? one : most));
