import {
  accepts,
  buys,
  buysAndMoves,
  buysElsewhere,
  racesFill,
  sellsElsewhere,
  tradesUnknownOrder,
} from "./fill-moves.ts";
import {
  burnsOrMints,
  cancels,
  changesAllowance,
  changesWallet,
  incrementsCounter,
  letsTimePass,
  movesWrapped,
  startsAnew,
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
  bidsOnToken,
  listsEdition,
  listsInBulk,
  listsToken,
} from "./order-moves.ts";
import type { Stage } from "./stage.ts";

/** What may happen, and how often against the others. */
const programme: readonly (readonly [Move, number])[] = [
  [listsToken, 12],
  [listsEdition, 8],
  [listsInBulk, 4],
  [bidsOnToken, 8],
  [bidsOnEdition, 6],
  [bidsOnCollection, 8],
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
  [letsTimePass, 2],
  [startsAnew, 3],
];

const total = programme.reduce((sum, [, weight]) => sum + weight, 0);

/** A contract reverted, the API had no terms for it, or the node had not yet counted what a reorg brought back. */
const refusals = /was reverted in|params: 4\d\d|nonce too low/;

/** Plays one of them. Returns what happened; a transaction that the chain refused is no fault. */
export async function playMove(stage: Stage): Promise<string> {
  const move = drawMove(stage);
  try {
    return `${move.name}: ${(await move(stage)) ?? "nothing to do"}`;
  } catch (error) {
    if (!(error instanceof Error) || !refusals.test(error.message)) throw error;
    return `${move.name}: refused`;
  }
}

function drawMove({ random }: Stage): Move {
  let place = random.below(total);
  for (const [move, weight] of programme) {
    if (place < weight) return move;
    place -= weight;
  }
  throw new RangeError("the programme has an end");
}
