import * as maintenance from "./maintenance-scenarios.ts";
import type { Random } from "./random.ts";
import type { Scenario } from "./scenario.ts";
import * as trades from "./trade-scenarios.ts";

/** Every scenario once. */
export const allScenarios: readonly Scenario[] = [
  ...Object.values(trades),
  ...Object.values(maintenance),
];

/** Scenarios drawn more often. */
const commonScenarios = [
  trades.sellsToken,
  trades.sellsToken,
  trades.sellsToken,
  trades.sellsElsewhere,
  trades.sellsPartOfEdition,
  trades.sellsIntoItemOffer,
  trades.sellsIntoCollectionOffer,
  maintenance.transfersToken,
] as const;

export function pickScenario(random: Random): Scenario {
  const [first, ...rest] = commonScenarios;
  return random.pick([first, ...rest, ...allScenarios]);
}
