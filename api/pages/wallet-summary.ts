import type { z } from "zod";
import type { ChainId } from "#chains/index.ts";
import { type WalletSummary, walletSummary } from "../v1/wallet-summary.ts";
import { type Html, html } from "./kit/html.ts";
import { amount, coinSymbol, counted, formatCount } from "./kit/number.ts";
import { figures } from "./kit/panel.ts";
import type { Visit } from "./kit/visit.ts";

type Summary = z.output<typeof WalletSummary>;

/** What a wallet holds is worth, and what its trades earned. */
export async function walletFigures({ chainId, read }: Visit, wallet: string): Promise<Html> {
  const { data } = await read(walletSummary, {
    params: { wallet },
    query: { chainId: String(chainId) },
  });
  const { holdings, trades } = data;
  const notes = notesOn(data);
  return html`${figures([
    ...heldFigures(holdings, chainId),
    ...(trades === null ? [] : tradeFigures(trades, chainId)),
  ])}${notes.length > 0 && html`<p class="about">${notes.join(" ")}</p>`}`;
}

function heldFigures(holdings: Summary["holdings"], chainId: ChainId) {
  const { contracts, tokens, units, floorWei, offersWei } = holdings;
  const symbol = coinSymbol(chainId);
  const inUnits =
    units !== tokens && html`<data value="${units}">${formatCount(Number(units))} units</data>`;
  return [
    {
      label: "Tokens",
      value: html`<data value="${tokens}">${formatCount(Number(tokens))}</data>`,
      note: html`of ${counted(contracts, "contract")}${inUnits && html`, ${inUnits}`}`,
    },
    { label: "Value at floor", value: amount({ wei: floorWei, symbol }) },
    {
      label: "Value at best offer",
      value: amount({ wei: offersWei, symbol: `W${symbol}` }),
      note: html`of offers on whole collections`,
    },
  ];
}

function tradeFigures(trades: NonNullable<Summary["trades"]>, chainId: ChainId) {
  const { purchases, sales, spentWei, earnedWei, profitWei, unboughtWei } = trades;
  const symbol = coinSymbol(chainId);
  const gain = profitWei.startsWith("-") ? "down" : "up";
  return [
    {
      label: "Spent",
      value: amount({ wei: spentWei, symbol }),
      note: html`${counted(purchases, "purchase")}`,
    },
    {
      label: "Earned",
      value: amount({ wei: earnedWei, symbol }),
      note: html`${counted(sales, "sale")}, after fees`,
    },
    {
      label: "Profit",
      value: html`<span class="${profitWei === "0" ? "quiet" : gain}">${amount({ wei: profitWei, symbol })}</span>`,
      note:
        unboughtWei !== "0" &&
        html`and ${amount({ wei: unboughtWei, symbol })} with tokens that it did not buy`,
    },
  ];
}

/** What the figures are of, and what is left out. */
function notesOn({ holdings, trades }: Summary): string[] {
  const { truncated, contracts } = holdings;
  const cut = truncated ? [`Tokens are those of the first ${counted(contracts, "contract")}.`] : [];
  if (trades === null) return [...cut, "It has too many trades to add them up here."];
  const { wash, otherCurrencies } = trades;
  const left = [
    wash > 0 && counted(wash, "wash trade"),
    otherCurrencies > 0 && `${counted(otherCurrencies, "trade")} in other currencies`,
  ].filter((one) => one !== false);
  return [
    ...cut,
    "Profit is that of what was bought and sold again, the oldest first.",
    ...(left.length > 0 ? [`${left.join(" and ")} left out.`] : []),
  ];
}
