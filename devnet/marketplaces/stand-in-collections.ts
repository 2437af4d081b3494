import { type Address, isAddressEqual } from "viem";
import { type ChainId, chainIds, defaultChain } from "#chains/index.ts";
import { accounts } from "../accounts.ts";
import { contracts } from "../contracts/addresses.ts";

/** A share of the price that a marketplace asks for. */
export type CollectionFee = { recipient: Address; bps: number; isRequired: boolean };

/** A collection as partner marketplaces know it: a slug for one contract of one chain. */
export type StandInCollection = {
  chainId: ChainId;
  contract: Address;
  slug: string;
  name: string;
  standard: "erc721" | "erc1155";
  creatorFees: readonly CollectionFee[];
};

/** OpenSea's and Magic Eden's recipients on the real chains. */
export const partnerFeeRecipients: Record<"opensea" | "magiceden", Address> = {
  opensea: "0x0000a26b00c1f0df003000390027140000faa719",
  magiceden: "0x6fa303e72bed54f515a513496f922bc331e2f27e",
};

/** OpenSea takes 2.5 %, Magic Eden 2 %. */
export const partnerFeeBps = { opensea: 250, magiceden: 200 } as const;

/** Collections whose creators ask for nothing, or leave it to the maker. */
const creatorTerms: Partial<Record<string, readonly CollectionFee[]>> = {
  burnable: [],
  familyTwo: [{ recipient: accounts.royaltyRecipient, bps: 500, isRequired: false }],
};

const usualTerms: readonly CollectionFee[] = [
  { recipient: accounts.royaltyRecipient, bps: 500, isRequired: true },
];

const { validator: _, smartWallet: __, ...traded } = contracts;

/** The traded fixtures of every chain. */
export const fixtureCollections: readonly StandInCollection[] = chainIds.flatMap((chainId) =>
  Object.entries(traded).map(([name, contract]) => ({
    chainId,
    contract,
    slug: slugOf(name, chainId),
    name: name.replace(/^./, (letter) => letter.toUpperCase()),
    standard: name === "editions" ? ("erc1155" as const) : ("erc721" as const),
    creatorFees: creatorTerms[name] ?? usualTerms,
  })),
);

function slugOf(name: string, chainId: ChainId): string {
  const kebab = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return chainId === defaultChain.id ? kebab : `${kebab}-${chainId}`;
}

/** The collection of a contract, made up when it was not known. */
export function know(
  collections: StandInCollection[],
  { chainId, contract }: { chainId: ChainId; contract: Address },
): StandInCollection {
  const known = collections.find(
    (collection) => collection.chainId === chainId && isAddressEqual(collection.contract, contract),
  );
  if (known !== undefined) return known;
  const slug = `unnamed-${contract.slice(2, 10).toLowerCase()}-${chainId}`;
  const made: StandInCollection = {
    chainId,
    contract,
    slug,
    name: slug,
    standard: "erc721",
    creatorFees: [],
  };
  collections.push(made);
  return made;
}
