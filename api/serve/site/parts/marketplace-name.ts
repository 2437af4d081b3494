import { partnerNames, partners } from "#projections/domain/marketplaces.ts";

/** Names of marketplaces for visitors, by those on the wire. */
export const marketplaceNames: ReadonlyMap<string, string> = new Map([
  ["native", "this market"],
  ...partnerNames.map((name) => [name, partners[name].displayName] as const),
]);

/** Marketplaces that are only known by their sales keep their names on the wire. */
export const marketplaceName = (onTheWire: string): string =>
  marketplaceNames.get(onTheWire) ?? onTheWire;
