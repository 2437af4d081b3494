import { accounts } from "../accounts.ts";
import { contracts } from "../contracts/addresses.ts";
import { bidding } from "./bidding.ts";
import { holdings } from "./holdings.ts";
import { orderUpkeep } from "./order-upkeep.ts";
import { type Party, person, type Venue, wallet } from "./party.ts";
import { purse } from "./purse.ts";
import { selling } from "./selling.ts";

/** Everybody on a venue. `wallet` is a contract that signs with alice's key (EIP-1271). */
export function gatherActors(venue: Venue) {
  const play = (party: Party) => ({
    address: party.address,
    ...holdings(party),
    ...purse(venue, party),
    ...selling(venue, party),
    ...bidding(venue, party),
    ...orderUpkeep(party),
  });
  const alice = person(venue, accounts.alice);
  return {
    alice: play(alice),
    bob: play(person(venue, accounts.bob)),
    carol: play(person(venue, accounts.carol)),
    dave: play(person(venue, accounts.dave)),
    erin: play(person(venue, accounts.erin)),
    frank: play(person(venue, accounts.frank)),
    grace: play(person(venue, accounts.grace)),
    wallet: play(wallet(contracts.smartWallet, alice)),
  };
}

export type Actors = ReturnType<typeof gatherActors>;
export type Actor = Actors["alice"];
