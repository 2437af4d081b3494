import type { ExchangeEvent } from "#projections/facts/exchange-event.ts";
import type { ExchangeFact, ExchangeTransaction } from "./exchange.ts";
import type { Fill, Trade } from "./trade.ts";
import { UnresolvableEvent } from "./unresolved-event.ts";

type Translated = Trade | readonly Trade[] | null;

/** An event of an exchange, with what it is emitted by. */
export type EmittedEvent = ExchangeEvent & Pick<ExchangeFact, "contract" | "logIndex">;

/** The events of a transaction, in log order. */
export function eventsOf({ facts }: ExchangeTransaction): EmittedEvent[] {
  return facts.map(({ contract, logIndex, payload }) => ({
    ...(payload as ExchangeEvent),
    contract,
    logIndex,
  }));
}

/**
 * The fills of a transaction, event by event: `translate` returns a trade or several, or null for an event that
 * announces none.
 * What it throws concerns that event alone: `UnresolvableEvent` with its reason, anything else as `undecodable`.
 */
export function translateEvents(
  transaction: ExchangeTransaction,
  translate: (event: EmittedEvent) => Translated,
): Fill[] {
  return eventsOf(transaction).flatMap((event): Fill[] => {
    try {
      return [translate(event) ?? []].flat();
    } catch (error) {
      const unresolved = error instanceof UnresolvableEvent ? error.reason : "undecodable";
      return [{ unresolved, logIndex: event.logIndex }];
    }
  });
}
