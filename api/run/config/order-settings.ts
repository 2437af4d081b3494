import { defaultQuotas, type OrderQuotas } from "#projections/domain/orders/order-quotas.ts";
import { setting, wholeNumber } from "./setting.ts";

const orderQuota = (name: keyof OrderQuotas, meaning: string) =>
  setting(wholeNumber(1, 1_000_000_000).default(defaultQuotas[name]), {
    meaning,
    expectation: "a whole number, 1 to 1000000000",
    example: `${defaultQuotas[name]}`,
  });

/** What strangers' orders may cost. */
export const orderSettings = {
  ORDER_QUOTA_MAKER: orderQuota(
    "maker",
    "open orders of a maker without trades; grows with trades, up to 10000",
  ),
  ORDER_QUOTA_CONTRACT: orderQuota(
    "contract",
    "open listings of a contract without sales, and makers whose offers on it outbid another; grows with sales; verified collections have no limit",
  ),
  ORDER_BUDGET_UNTRADED: orderQuota(
    "untradedPerDay",
    "new listings a day and chain for all contracts without sales together",
  ),
  ORDER_BUDGET_NEWCOMERS: orderQuota(
    "newcomersPerDay",
    "new listings a day and chain of all makers without trades together, and as many offers of each size",
  ),
  OFFER_EXPOSURE: orderQuota(
    "bidExposure",
    "largest sum of a maker's open offers, as a multiple of the balance that pays for them",
  ),
};
