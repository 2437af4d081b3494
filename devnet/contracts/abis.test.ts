import { type Abi, toFunctionSelector } from "viem";
import { describe, expect, it } from "vitest";
import {
  blurExchangeAbi,
  collectionAbi,
  consecutiveCollectionAbi,
  editionsAbi,
  ensRegistryAbi,
  guardedCollectionAbi,
  publicResolverAbi,
  reverseRegistrarAbi,
  signedZoneAbi,
  smartWalletAbi,
  sudoswapFactoryAbi,
  sudoswapPoolAbi,
  transferValidatorAbi,
  wildcardResolverAbi,
} from "./abis.ts";
import { type OwnName, readArtifact } from "./artifacts.ts";

const typed: [OwnName, Abi][] = [
  ["Collection", collectionAbi],
  ["ConsecutiveCollection", consecutiveCollectionAbi],
  ["GuardedCollection", guardedCollectionAbi],
  ["TransferValidator", transferValidatorAbi],
  ["Editions", editionsAbi],
  ["SmartWallet", smartWalletAbi],
  ["SignedZone", signedZoneAbi],
  ["EnsRegistry", ensRegistryAbi],
  ["PublicResolver", publicResolverAbi],
  ["WildcardResolver", wildcardResolverAbi],
  ["BlurExchange", blurExchangeAbi],
  ["SudoswapFactory", sudoswapFactoryAbi],
  ["SudoswapPool", sudoswapPoolAbi],
  ["ReverseRegistrar", reverseRegistrarAbi],
];

const functionsOf = (abi: Abi): string[] =>
  abi.flatMap((item) =>
    item.type === "function" ? [`${item.name} ${toFunctionSelector(item)}`] : [],
  );

describe("the typed ABIs", () => {
  it.each(typed)("of %s hold only functions that it has", (artifactName, abi) => {
    const compiled = functionsOf(readArtifact(artifactName).abi ?? []);
    expect(compiled).toEqual(expect.arrayContaining(functionsOf(abi)));
  });
});
