import { readFileSync } from "node:fs";
import type { Abi, Hex } from "viem";

/** The contracts written here, by the file that holds them. */
export const ownSources = {
  Collection: ["Collection"],
  Changing: ["ChangingCollection", "ChangingEditions"],
  ConsecutiveCollection: ["ConsecutiveCollection"],
  GuardedCollection: ["GuardedCollection"],
  TransferValidator: ["TransferValidator"],
  Editions: ["Editions"],
  SmartWallet: ["SmartWallet"],
  SignedZone: ["SignedZone"],
  WrappedNative: ["WrappedNative"],
  Multicall3: ["Multicall3"],
  Airdrop: ["Airdrop"],
  EnsRegistry: ["EnsRegistry"],
  EnsResolvers: ["PublicResolver", "WildcardResolver", "OffchainResolver", "ReverseRegistrar"],
  Exchanges: ["BlurExchange", "SudoswapFactory", "SudoswapPool"],
  OlderTokens: ["UnindexedCollection", "PlainCollection", "ClaimingCollection"],
  Hostile: [
    "RangeFlood",
    "LargeUri",
    "EndlessUri",
    "GasBurner",
    "ReturnBomb",
    "RevertBomb",
    "LiarByGas",
    "LiarByCaller",
    "EventLiar",
    "Reentering",
    "ChangingProxy",
    "EndlessTraits",
    "Nursery",
  ],
} as const;

/** The exchange, compiled from its published sources. Their interface is in `abis/seaport.ts`. */
export const exchangeSources = {
  "seaport-core/src/Seaport.sol": ["Seaport"],
  "seaport-core/src/conduit/ConduitController.sol": ["ConduitController"],
  "seaport-core/src/conduit/Conduit.sol": ["Conduit"],
} as const;

type NamesOf<Sources extends Record<string, readonly string[]>> = Sources[keyof Sources][number];
export type OwnName = NamesOf<typeof ownSources>;
type ArtifactName = OwnName | NamesOf<typeof exchangeSources>;

/** Need no constructor and go as they are to an address of the real chains. */
export const placed = [
  ...(["WrappedNative", "Multicall3", "SignedZone", "EnsRegistry"] as const),
  ...(["BlurExchange", "SudoswapFactory"] as const),
] as const;
export type PlacedName = (typeof placed)[number];

/** What the compiler made of one contract, as committed. */
export type Artifact = {
  contractName: string;
  /** Of the contracts written here only. */
  abi?: Abi;
  /** Creation code without constructor arguments. */
  bytecode: Hex;
  /** Runtime code, of those placed. */
  deployedBytecode?: Hex;
};

export const artifactUrl = (name: string) => new URL(`./artifacts/${name}.json`, import.meta.url);

export function readArtifact(name: ArtifactName): Artifact {
  return JSON.parse(readFileSync(artifactUrl(name), "utf8")) as Artifact;
}
