import { accounts } from "../accounts.ts";
import { contracts } from "../contracts/addresses.ts";
import { bidding } from "./bidding.ts";
import { holdings } from "./holdings.ts";
import { orderManagement } from "./order-management.ts";
import { selling } from "./selling.ts";
import { accountSigner, type MarketContext, type Signer, walletSigner } from "./signer.ts";
import { wrappedCurrency } from "./wrapped-currency.ts";

/** All actors of a chain. `wallet` is a contract that signs with alice's key (EIP-1271). */
export function createActors(market: MarketContext) {
  const createActor = (signer: Signer) => ({
    ...signer,
    ...holdings(signer),
    ...wrappedCurrency(market, signer),
    ...selling(market, signer),
    ...bidding(market, signer),
    ...orderManagement(signer),
  });
  const alice = accountSigner(market, accounts.alice);
  return {
    alice: createActor(alice),
    bob: createActor(accountSigner(market, accounts.bob)),
    carol: createActor(accountSigner(market, accounts.carol)),
    dave: createActor(accountSigner(market, accounts.dave)),
    erin: createActor(accountSigner(market, accounts.erin)),
    frank: createActor(accountSigner(market, accounts.frank)),
    grace: createActor(accountSigner(market, accounts.grace)),
    wallet: createActor(walletSigner(contracts.smartWallet, alice)),
  };
}

export type Actors = ReturnType<typeof createActors>;
export type Actor = Actors["alice"];
