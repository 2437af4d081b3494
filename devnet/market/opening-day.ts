import { type Address, parseEther } from "viem";
import { contracts } from "../contracts/addresses.ts";
import type { Actor, Actors } from "./actors.ts";
import type { Venue } from "./party.ts";
import { consecutiveRun, editionIds, editionUnits, familyRuns, punkRun } from "./stock.ts";

const purseWei = parseEther("1000000");

/** Mints the stock, funds everybody and opens the conduit for the traded contracts. */
export async function holdOpeningDay(venue: Venue, actors: Actors): Promise<void> {
  const { wallet, ...traders } = actors;
  const people = Object.values(traders);
  for (const { address } of [...people, wallet]) {
    await venue.client.setBalance({ address, value: purseWei });
  }
  for (const run of [punkRun, ...familyRuns]) {
    const share = run.count / BigInt(people.length);
    for (const [index, person] of people.entries()) {
      await person.mintsRun(run.contract, run.firstId + BigInt(index) * share, share);
    }
  }
  await actors.grace.mintsConsecutive(consecutiveRun.contract, consecutiveRun.count);
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
