import { type Address, getContractAddress, keccak256, slice, stringToHex } from "viem";

/** The account that creates the fixture of this name with its first transaction, and nothing else. */
export const creatorOf = (name: string): Address => slice(keccak256(stringToHex(name)), 12);

/** Same on both chains and after every recompilation: it depends on the fixture's name only. */
export const addressOf = (name: string): Address =>
  toLowerCase(getContractAddress({ from: creatorOf(name), nonce: 0n }));

const toLowerCase = (address: Address): Address => `0x${address.slice(2).toLowerCase()}`;

/** The fixtures, at the same addresses on both chains. */
export const contracts = {
  punks: addressOf("punks"),
  editions: addressOf("editions"),
  familyOne: addressOf("familyOne"),
  familyTwo: addressOf("familyTwo"),
  guarded: addressOf("guarded"),
  burnable: addressOf("burnable"),
  consecutive: addressOf("consecutive"),
  smartWallet: addressOf("smartWallet"),
  validator: addressOf("validator"),
};

/** Whose word a partner's restricted orders need: the real zone's address, on both chains. */
export const signedZone: Address = "0x000056f7000000ece9003ca63978907a00ffd100";

/** ENS, on chain 1 only. The registry's address is the mainnet one, `abis/deployments.ts`. */
export const ensContracts = {
  publicResolver: addressOf("publicResolver"),
  wildcardResolver: addressOf("wildcardResolver"),
  offchainResolver: addressOf("offchainResolver"),
  reverseRegistrar: addressOf("reverseRegistrar"),
};
