import { type Address, parseEther } from "viem";
import { contracts } from "../contracts/addresses.ts";
import type { Actor, Actors } from "./actors.ts";
import {
  consecutiveRange,
  editionIds,
  editionUnits,
  multiContractRanges,
  punkRange,
} from "./seed-tokens.ts";
import type { MarketContext } from "./signer.ts";

const initialBalanceWei = parseEther("1000000");

/** Mints the tokens, funds every actor and approves the conduit for the traded contracts. */
export async function setUpMarket(market: MarketContext, actors: Actors): Promise<void> {
  const { wallet, ...traders } = actors;
  const people = Object.values(traders);
  for (const { address } of [...people, wallet]) {
    await market.client.setBalance({ address, value: initialBalanceWei });
  }
  for (const range of [punkRange, ...multiContractRanges]) {
    const share = range.count / BigInt(people.length);
    for (const [index, person] of people.entries()) {
      await person.mintsRange(range.contract, range.firstId + BigInt(index) * share, share);
    }
  }
  await actors.grace.mintsConsecutive(consecutiveRange.contract, consecutiveRange.count);
  for (const person of people) {
    await person.mintsEditions({
      contract: contracts.editions,
      tokenIds: editionIds,
      units: editionUnits,
    });
    await approveAll(person);
  }
  await wallet.approves(contracts.punks);
}

async function approveAll(person: Actor): Promise<void> {
  const traded: Address[] = [
    contracts.punks,
    contracts.editions,
    contracts.familyOne,
    contracts.familyTwo,
    contracts.consecutive,
  ];
  for (const contract of traded) await person.approves(contract);
}
