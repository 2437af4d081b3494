import { blurAddresses } from "../abis/blur.ts";
import { commonConduit, multicall3 } from "../abis/deployments.ts";
import { sudoswapFactories } from "../abis/sudoswap.ts";
import { type ChainId, chainById } from "../chains/index.ts";
import { accounts } from "./accounts.ts";
import type { DevnetClient } from "./client.ts";
import { contracts, signedZone } from "./contracts/addresses.ts";
import type { OwnName } from "./contracts/artifacts.ts";
import { create, place } from "./deploy.ts";
import { hasOtherExchanges } from "./market/other-exchanges.ts";

const { alice, royaltyRecipient } = accounts;

/** The contract at each fixture address, and the arguments it is created with. */
const fixtures: Record<keyof typeof contracts, readonly [OwnName, readonly unknown[]]> = {
  validator: ["TransferValidator", [commonConduit.address]],
  punks: ["Collection", ["Local Punks", "LPUNK", royaltyRecipient]],
  editions: ["Editions", ["Local Editions", "LEDN", royaltyRecipient]],
  familyOne: ["Collection", ["Local Family", "LFAM1", royaltyRecipient]],
  familyTwo: ["Collection", ["Local Family", "LFAM2", royaltyRecipient]],
  guarded: [
    "GuardedCollection",
    ["Local Guarded", "LGUARD", royaltyRecipient, contracts.validator],
  ],
  burnable: ["Collection", ["Local Burnable", "LBURN", royaltyRecipient]],
  consecutive: ["ConsecutiveCollection", ["Local Consecutive", "LCONS", royaltyRecipient]],
  smartWallet: ["SmartWallet", [alice.address]],
};

/** The fixtures, the wrapped native currency, Multicall3 and the zone of a partner marketplace. */
export async function installTokens(client: DevnetClient): Promise<void> {
  const chainId = client.chain.id as ChainId;
  const { wrapped } = chainById(chainId);
  await place(client, wrapped.address, "WrappedNative");
  await place(client, multicall3, "Multicall3");
  await place(client, signedZone, "SignedZone");
  if (hasOtherExchanges(chainId)) await installOtherExchanges(client);
  for (const [name, [artifactName, args]] of Object.entries(fixtures))
    await create(client, name, artifactName, args);
}

/** Blur with its pool, whose coins are a wrapped currency of their own, and Sudoswap, at their real addresses. */
async function installOtherExchanges(client: DevnetClient): Promise<void> {
  await place(client, blurAddresses.pool, "WrappedNative");
  await place(client, blurAddresses.v2, "BlurExchange");
  await place(client, sudoswapFactories["2"], "SudoswapFactory");
}
