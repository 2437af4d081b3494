import { offerPicks } from "./trade-select.js";
import { lastWallet, openTrade } from "./trade-store.js";

const load = () => import("./trade-flow.js");

/** Shows what trades, and goes on with what was left; all else is loaded when it is needed. */
export function offerTrades() {
  const { account } = lastWallet.read() ?? {};
  const mayTrade = (owner) =>
    owner === undefined || account === undefined || isSame(owner, account);
  const start = async (request) => {
    const { startTrade } = await load();
    await startTrade(request);
  };
  for (const button of document.querySelectorAll("button[data-trade]")) {
    const { trade, owner } = button.dataset;
    button.hidden = !mayTrade(owner);
    button.addEventListener("click", () => start(JSON.parse(trade)));
  }
  offerPicks(mayTrade, start);
  if (openTrade.read() !== null) void load().then(({ goOn }) => goOn());
}

const isSame = (one, other) => one.toLowerCase() === other.toLowerCase();
