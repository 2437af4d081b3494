import type { Episode } from "./episodes.ts";
import type { Random } from "./random.ts";
import * as trades from "./trade-episodes.ts";
import * as upkeep from "./upkeep-episodes.ts";

/** Each kind of thing that happens on the market, once. */
export const everyEpisode: readonly Episode[] = [
  ...Object.values(trades),
  ...Object.values(upkeep),
];

/** Plain sales happen most. */
const everyday = [
  trades.sellsToken,
  trades.sellsToken,
  trades.sellsToken,
  trades.sellsElsewhere,
  trades.sellsPartOfEdition,
  trades.sellsIntoItemOffer,
  trades.sellsIntoCollectionOffer,
  upkeep.transfersToken,
] as const;

export function drawEpisode(random: Random): Episode {
  const [first, ...rest] = everyday;
  return random.pick([first, ...rest, ...everyEpisode]);
}
