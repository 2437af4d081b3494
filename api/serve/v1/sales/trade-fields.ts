import type { Address } from "viem";
import { z } from "zod";
import type { ChainId } from "#chains/index.ts";
import { currenciesInWords } from "#chains/texts.ts";
import { type Rejection, reject } from "#projections/domain/rejection.ts";
import type { TradeFilter } from "#projections/sales/read-sale-filter.ts";
import { currencyOfSymbol } from "#api/serve/views/money.ts";
import { saleMarketplace, since, text, until, wallet } from "../routing/parameters.ts";

/** Query parameters of who traded, where, in what and when. All of them must match. */
export const tradeFields = {
  buyer: wallet.optional(),
  seller: wallet.optional(),
  wallet: wallet.optional().meta({ description: "Buyer or seller." }),
  marketplace: saleMarketplace.optional(),
  protocol: text(100).optional().meta({
    description: "`protocol.name` of a sale: the exchange, such as `seaport` or `blur`.",
  }),
  currency: z
    .string()
    .regex(/^(0x[0-9a-fA-F]{40}|[A-Za-z]{3,4})$/, "must be a symbol or a 0x address")
    .optional()
    .meta({
      description: `What it was paid in: ${currenciesInWords}, or \`currency.address\` of a sale.`,
    }),
  since: since.optional(),
  until: until.optional(),
};

type TradeQuery = z.output<z.ZodObject<typeof tradeFields>> & { chainId: ChainId };

export function tradeFilterOf(query: TradeQuery): TradeFilter | Rejection<"invalid_parameters"> {
  const currency = currencyOf(query);
  if (currency === undefined) {
    const message = `${query.currency} is no currency of chain ${query.chainId}`;
    return reject("invalid_parameters", `currency: ${message}`, [{ field: "currency", message }]);
  }
  return {
    buyer: query.buyer ?? null,
    seller: query.seller ?? null,
    wallet: query.wallet ?? null,
    marketplace: query.marketplace ?? null,
    protocol: query.protocol ?? null,
    currency,
    since: query.since ?? null,
    until: query.until ?? null,
  };
}

/** What a cursor is bound to. */
export function tradeScope({ since, until, ...trade }: TradeFilter) {
  return { ...trade, since: since?.toISOString() ?? null, until: until?.toISOString() ?? null };
}

/** null: any; undefined: not a currency of the chain. */
function currencyOf({ currency, chainId }: TradeQuery): Address | null | undefined {
  if (currency === undefined) return null;
  if (currency.startsWith("0x")) return currency.toLowerCase() as Address;
  return currencyOfSymbol(chainId, currency.toUpperCase());
}
