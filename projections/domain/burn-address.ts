import { type Address, zeroAddress } from "viem";

/** Tokens sent there cannot be moved again: by anyone, or by custom. */
const deadAddress: Address = "0x000000000000000000000000000000000000dead";
export const burnAddresses: ReadonlySet<Address> = new Set([zeroAddress, deadAddress]);
