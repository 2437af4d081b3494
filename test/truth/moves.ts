import {
  accepts,
  buys,
  buysAndMoves,
  buysElsewhere,
  racesFill,
  sellsElsewhere,
  tradesUnknownOrder,
} from "./fill-moves.ts";
import type { Fixture } from "./fixture.ts";
import {
  advancesTime,
  burnsOrMints,
  cancels,
  changesAllowance,
  changesWallet,
  incrementsCounter,
  movesWrapped,
  resetsApprovals,
  switchesApproval,
  switchesChannel,
  switchesValidator,
  syncsOrder,
  transfersEdition,
  transfersToken,
  validates,
} from "./holder-moves.ts";
import type { Move } from "./move.ts";
import {
  bidsOnCollection,
  bidsOnEdition,
  bidsOnList,
  bidsOnToken,
  listsEdition,
  listsInBulk,
  listsToken,
} from "./order-moves.ts";

/** Moves with their relative frequencies. */
const weightedMoves: readonly (readonly [Move, number])[] = [
  [listsToken, 12],
  [listsEdition, 8],
  [listsInBulk, 4],
  [bidsOnToken, 8],
  [bidsOnEdition, 6],
  [bidsOnCollection, 8],
  [bidsOnList, 6],
  [buys, 5],
  [accepts, 5],
  [buysElsewhere, 4],
  [sellsElsewhere, 4],
  [tradesUnknownOrder, 3],
  [buysAndMoves, 2],
  [racesFill, 3],
  [transfersToken, 6],
  [transfersEdition, 5],
  [burnsOrMints, 1],
  [switchesApproval, 6],
  [movesWrapped, 6],
  [changesAllowance, 4],
  [cancels, 3],
  [syncsOrder, 2],
  [incrementsCounter, 1],
  [validates, 2],
  [switchesValidator, 2],
  [changesWallet, 2],
  [switchesChannel, 1],
  [advancesTime, 2],
  [resetsApprovals, 3],
];

const total = weightedMoves.reduce((sum, [, weight]) => sum + weight, 0);

/** A reverted transaction, parameters refused by the API, or a stale nonce after a reorg. */
const expectedErrors = /was reverted in|params: (?:4\d\d|blocked)|nonce too low/;

/** Makes a random move. Returns its outcome; a reverted transaction is not an error. */
export async function playMove(fixture: Fixture): Promise<string> {
  const move = drawMove(fixture);
  try {
    return `${move.name}: ${(await move(fixture)) ?? "nothing to do"}`;
  } catch (error) {
    if (!(error instanceof Error) || !expectedErrors.test(error.message)) throw error;
    return `${move.name}: reverted`;
  }
}

function drawMove({ random }: Fixture): Move {
  let remaining = random.below(total);
  for (const [move, weight] of weightedMoves) {
    if (remaining < weight) return move;
    remaining -= weight;
  }
  throw new RangeError("the weights do not add up");
}
