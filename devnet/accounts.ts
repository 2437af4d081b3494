import type { Address } from "viem";
import { mnemonicToAccount } from "viem/accounts";

const person = (addressIndex: number) =>
  mnemonicToAccount("test test test test test test test test test test test junk", {
    addressIndex,
  });

/** Anvil funds the accounts of its public test phrase; the recipients start empty, so what they hold is what they were paid. */
export const accounts = {
  deployer: person(0),
  alice: person(1),
  bob: person(2),
  carol: person(3),
  dave: person(4),
  erin: person(5),
  frank: person(6),
  grace: person(7),
  /** Authorises the fills of a partner marketplace; `contracts/SignedZone.sol` knows the address. */
  zoneSigner: person(8),
  feeRecipient: "0x00000000000000000000000000000000000fee00" satisfies Address as Address,
  royaltyRecipient: "0x0000000000000000000000000000000000c4ea70" satisfies Address as Address,
};
