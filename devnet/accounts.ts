import { type Address, toHex } from "viem";
import { mnemonicToAccount, privateKeyToAccount } from "viem/accounts";

// The seed of a phrase costs 2,048 rounds of hashing: it is made once, not for each account.
const hdKey = mnemonicToAccount("test test test test test test test test test test test junk", {
  path: "m/44'/60'/0'/0",
}).getHdKey();

function person(addressIndex: number) {
  const { privateKey: bytes } = hdKey.deriveChild(addressIndex);
  if (bytes === null)
    throw new Error(`Account ${addressIndex} of the test phrase has no private key`);
  const privateKey = toHex(bytes);
  return { ...privateKeyToAccount(privateKey), privateKey };
}

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
