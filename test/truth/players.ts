import type { Address, LocalAccount, PrivateKeyAccount } from "viem";
import { accounts } from "../../devnet/accounts.ts";
import { contracts } from "../../devnet/contracts/addresses.ts";
import type { Actor, Actors } from "../../devnet/market/actors.ts";
import { bidding } from "../../devnet/market/bidding.ts";
import { holdings } from "../../devnet/market/holdings.ts";
import { orderUpkeep } from "../../devnet/market/order-upkeep.ts";
import { type Party, person, type Venue, wallet } from "../../devnet/market/party.ts";
import { purse } from "../../devnet/market/purse.ts";
import { selling } from "../../devnet/market/selling.ts";
import { openTrader, type Trader } from "../support/chain/trader.ts";

/** An account on the chain and a client of the API. */
export type Player = {
  name: string;
  address: Address;
  actor: Actor;
  trader: Trader;
  /** Signs a digest. */
  sign: Party["sign"];
};

const names = ["alice", "bob", "carol", "dave"] as const;

type Account = LocalAccount & { signTypedData: PrivateKeyAccount["signTypedData"] };

/** Four people, and a wallet contract that is the first one's and may become the second one's. */
export function gatherPlayers(venue: Venue, actors: Actors, baseUrl: string) {
  const { chainId, client } = venue;
  const people = names.map((name): Player => {
    const account = accounts[name];
    const trader = openTrader({ baseUrl, chainId, client, account });
    const { address, sign } = person(venue, account);
    return { name, address, actor: actors[name], trader, sign };
  });
  const walletOf = (owner: Account): Player => {
    const party = wallet(contracts.smartWallet, person(venue, owner));
    const { address } = party;
    const { signTypedData } = owner;
    return {
      name: "wallet",
      address,
      actor: {
        address,
        ...holdings(party),
        ...purse(venue, party),
        ...selling(venue, party),
        ...bidding(venue, party),
        ...orderUpkeep(party),
      },
      trader: openTrader({ baseUrl, chainId, client, account: { address, signTypedData } }),
      sign: party.sign,
    };
  };
  return { people, walletOf };
}

/** Gives the wallet another owner. The owner is in its code, so neither an event nor storage shows the change. */
export async function changeWalletOwner(
  { client }: Venue,
  from: Address,
  to: Address,
): Promise<void> {
  const address = contracts.smartWallet;
  const code = await client.getCode({ address });
  if (code === undefined) throw new Error("the wallet has no code");
  const word = (owner: Address) => owner.slice(2).toLowerCase();
  const bytecode = code.replaceAll(word(from), word(to)) as `0x${string}`;
  await client.setCode({ address, bytecode });
}
