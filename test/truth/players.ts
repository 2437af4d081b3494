import type { Address, LocalAccount, PrivateKeyAccount } from "viem";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import {
  type Actor,
  type Actors,
  holdings,
  orderManagement,
  wrappedCurrency,
} from "#devnet/market/actors.ts";
import { bidding, selling } from "#devnet/market/selling.ts";
import {
  accountSigner,
  type MarketContext,
  type Signer,
  walletSigner,
} from "#devnet/market/signer.ts";
import { openTrader, type Trader } from "../support/chain/trader.ts";

/** An account on the chain and a client of the API. */
export type Player = {
  name: string;
  address: Address;
  actor: Actor;
  trader: Trader;
  /** Signs a digest. */
  sign: Signer["sign"];
};

const names = ["alice", "bob", "carol", "dave"] as const;

type Account = LocalAccount & { signTypedData: PrivateKeyAccount["signTypedData"] };

/** Four people, and a smart wallet of the first, which may change to the second. */
export function createPlayers(marketContext: MarketContext, actors: Actors, baseUrl: string) {
  const { chainId, client } = marketContext;
  const people = names.map((name): Player => {
    const account = accounts[name];
    const trader = openTrader({ baseUrl, chainId, client, account });
    const { address, sign } = accountSigner(marketContext, account);
    return { name, address, actor: actors[name], trader, sign };
  });
  const walletOf = (owner: Account): Player => {
    const signer = walletSigner(contracts.smartWallet, accountSigner(marketContext, owner));
    const { address } = signer;
    const { signTypedData } = owner;
    return {
      name: "wallet",
      address,
      actor: {
        ...signer,
        ...holdings(signer),
        ...wrappedCurrency(marketContext, signer),
        ...selling(marketContext, signer),
        ...bidding(marketContext, signer),
        ...orderManagement(signer),
      },
      trader: openTrader({ baseUrl, chainId, client, account: { address, signTypedData } }),
      sign: signer.sign,
    };
  };
  return { people, walletOf };
}

/** Gives the wallet another owner. The owner is in its code, so neither an event nor storage shows the change. */
export async function changeWalletOwner(
  { client }: MarketContext,
  from: Address,
  to: Address,
): Promise<void> {
  const address = contracts.smartWallet;
  const code = await client.getCode({ address });
  if (code === undefined) throw new Error("the wallet has no code");
  const bytes = (owner: Address) => owner.slice(2).toLowerCase();
  const bytecode = code.replaceAll(bytes(from), bytes(to)) as `0x${string}`;
  await client.setCode({ address, bytecode });
}
